/**
 * Fan-outs: first those in progress, then those that ended. The progress is shown only in the view of one fan-out,
 * because the API must count the items.
 */
import { html } from 'lit';
import type { FanOutOutline, FanOutPage } from '../../../../../src/api/fan-outs/responses.ts';
import { PATHS } from '../base/api.ts';
import { count } from '../base/format.ts';
import { href } from '../base/router.ts';
import type { Page, Screen } from '../base/screen.ts';
import { chartSection } from '../components/chart-section.ts';
import { heading } from '../components/heading.ts';
import { badge, empty, link, refused } from '../components/parts.ts';
import { type Column, pager, table } from '../components/table.ts';
import { trackerState } from '../model/words.ts';

const COLUMNS: readonly Column<FanOutOutline>[] = [
  { name: 'Fan-out', cell: ({ id }) => link({ view: 'fan-out', id }, id, 'id') },
  { name: 'Status', cell: ({ status }) => badge(trackerState(status)) },
  { name: 'Items', number: true, cell: ({ total }) => count(total) },
  { name: 'About', minor: true, cell: ({ userKey }) => userKey ?? '–' },
  { name: 'Opened', number: true, cell: ({ createdAt }) => html`<time-ago at=${createdAt}></time-ago>` },
  { name: 'Ended', number: true, cell: ({ endedAt }) => (endedAt ? html`<time-ago at=${endedAt}></time-ago>` : '–') },
];

export const fanOutsScreen = (page: Page, cursor: string | undefined): Screen => {
  const path = PATHS.fanOuts(cursor);
  return {
    title: 'Fan-outs',
    paths: () => [path],
    render: () => {
      const found = page.live.body<FanOutPage>(path);
      return html`
        ${heading({ name: 'Fan-outs' })}
        <p class="lead">A fan-out is a set of items. When the last item is done, this is reported exactly once.</p>
        ${refused(page, path) ?? table({ name: 'Fan-outs', columns: COLUMNS, rows: found?.fanOuts, empty: none })}
        ${pager(cursor === undefined ? undefined : href({ view: 'fan-outs' }), found?.cursor === undefined ? undefined : href({ view: 'fan-outs', cursor: found.cursor }), 'fan-outs')}
        ${chartSection(page, {}, 'fan-outs')}`;
    },
  };
};

const none = empty(
  'No fan-out yet',
  html`Open one: <code>groupage fan-out open</code>, or <code>POST /v1/fan-outs</code>. <code>npm run example:catalog</code> runs an example.`,
);
