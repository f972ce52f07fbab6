/** The configured limits of calls. */
import { html } from 'lit';
import type { Limit } from '../../../../../src/api/limits/responses.ts';
import { PATHS } from '../base/api.ts';
import type { Page, Screen } from '../base/screen.ts';
import { heading } from '../components/heading.ts';
import { limitTable } from '../components/limit-table.ts';
import { command, empty, refused } from '../components/parts.ts';

export const limitsScreen = (page: Page): Screen => ({
  title: 'Limits',
  paths: () => [PATHS.limits],
  render: () => html`
    ${heading({ name: 'Limits' })}
    <p class="lead">A limit sets how many calls, or how much weight, may start in a span of time or be in progress at once. Several operations may share it.</p>
    ${
      refused(page, PATHS.limits) ??
      limitTable(page.live.body<{ readonly limits: readonly Limit[] }>(PATHS.limits)?.limits, none)
    }
    ${command('limits')}`,
});

const none = empty(
  'No limit is configured',
  html`Define one under <code>limits</code> in the configuration and name it in the <code>limits</code> of operations, or set the <code>rateLimit</code> of an operation.`,
);
