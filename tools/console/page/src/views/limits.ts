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
    <p class="lead">A limit allows a number of calls, or a weight, in a span of time or in progress. Several operations may share it.</p>
    ${
      refused(page, PATHS.limits) ??
      limitTable(page.live.body<{ readonly limits: readonly Limit[] }>(PATHS.limits)?.limits, none)
    }
    ${command('limits')}`,
});

const none = empty(
  'No limit is configured',
  html`Name one in <code>limits</code> of the configuration, or set <code>rateLimit</code> of an operation.`,
);
