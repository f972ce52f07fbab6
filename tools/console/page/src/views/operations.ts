/** All operations: their state, waiting tasks and tasks under way. */
import { html } from 'lit';
import type { Operation } from '../../../../../src/api/operations/responses.ts';
import { PATHS } from '../base/api.ts';
import type { Page, Screen } from '../base/screen.ts';
import { heading } from '../components/heading.ts';
import { operationTable } from '../components/operation-table.ts';
import { command, refused } from '../components/parts.ts';
import { Removed } from '../components/removed.ts';

export const operationsScreen = (page: Page): Screen => {
  const removed = new Removed(page);
  return {
    title: 'Operations',
    paths: () => [PATHS.operations],
    render: () => {
      const operations = page.live.body<{ readonly operations: readonly Operation[] }>(PATHS.operations)?.operations;
      return html`
      ${heading({ name: 'Operations' })}
      <p class="lead">Open an operation to see its configuration, what it waits for, and what its figures advise.</p>
      ${refused(page, PATHS.operations) ?? operationTable(page, operations, new Map())}
      ${removed.render()}
      ${command('operations')}`;
    },
  };
};
