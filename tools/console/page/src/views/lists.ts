/**
 * Deferred lists: first those in progress, then those that ended. The progress is shown only in the view of one list,
 * because the API must count the jobs.
 */
import { html } from 'lit';
import type { ListOutline, ListPage } from '../../../../../src/api/lists/responses.ts';
import { PATHS } from '../base/api.ts';
import { count } from '../base/format.ts';
import { href } from '../base/router.ts';
import type { Page, Screen } from '../base/screen.ts';
import { chartSection } from '../components/chart-section.ts';
import { heading } from '../components/heading.ts';
import { badge, empty, link, refused } from '../components/parts.ts';
import { type Column, pager, table } from '../components/table.ts';
import { trackerState } from '../model/words.ts';

const COLUMNS: readonly Column<ListOutline>[] = [
  { name: 'List', cell: ({ id }) => link({ view: 'list', id }, id, 'id') },
  { name: 'Status', cell: ({ status }) => badge(trackerState(status)) },
  { name: 'Jobs', number: true, cell: ({ total }) => count(total) },
  { name: 'Name', minor: true, cell: ({ name }) => name ?? '–' },
  { name: 'Created', number: true, cell: ({ createdAt }) => html`<time-ago at=${createdAt}></time-ago>` },
  { name: 'Ended', number: true, cell: ({ endedAt }) => (endedAt ? html`<time-ago at=${endedAt}></time-ago>` : '–') },
];

export const listsScreen = (page: Page, cursor: string | undefined): Screen => {
  const path = PATHS.lists(cursor);
  return {
    title: 'Lists',
    paths: () => [path],
    render: () => {
      const found = page.live.body<ListPage>(path);
      return html`
        ${heading({ name: 'Lists' })}
        <p class="lead">A deferred list holds jobs until they are needed. A trigger registers them as tasks, or workers claim them.</p>
        ${refused(page, path) ?? table({ name: 'Lists', columns: COLUMNS, rows: found?.lists, empty: none })}
        ${pager(cursor === undefined ? undefined : href({ view: 'lists' }), found?.cursor === undefined ? undefined : href({ view: 'lists', cursor: found.cursor }), 'lists')}
        ${chartSection(page, {}, 'lists')}`;
    },
  };
};

const none = empty(
  'No list yet',
  html`Create one: <code>groupage lists create --operation NAME</code>, then <code>groupage lists add ID FILE</code>.`,
);
