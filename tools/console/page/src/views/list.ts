/** A deferred list: its progress, and its jobs page by page. */
import { html, nothing, type TemplateResult } from 'lit';
import type { Job, List } from '../../../../../src/api/lists/responses.ts';
import { PATHS } from '../base/api.ts';
import { count } from '../base/format.ts';
import { href } from '../base/router.ts';
import type { Page, Screen } from '../base/screen.ts';
import { heading } from '../components/heading.ts';
import { badge, command, empty, facts, figure, link, progress, refused, skeleton } from '../components/parts.ts';
import { type Column, pager, table } from '../components/table.ts';
import { jobState, listWords, trackerState } from '../model/words.ts';

interface Jobs {
  readonly jobs: readonly Job[];
  readonly next?: number;
}

const JOBS: readonly Column<Job>[] = [
  { name: 'Job', number: true, cell: ({ token }) => token },
  { name: 'Status', cell: ({ status }) => badge(jobState(status)) },
  { name: 'Task', cell: ({ task }) => (task ? link({ view: 'task', id: task }, task, 'id') : '–') },
  { name: 'Error', cell: ({ error }) => (error ? html`<code>${error.code}</code> ${error.message}` : nothing) },
];

export const listScreen = (page: Page, id: string, from = '0'): Screen => {
  const path = PATHS.list(id);
  const jobsPath = PATHS.jobs(id, Number.parseInt(from, 10) || 0);
  return {
    title: `List ${id}`,
    paths: () => [path, jobsPath],
    render: () => {
      const list = page.live.body<List>(path);
      const jobs = page.live.body<Jobs>(jobsPath);
      return html`
        ${heading({ kind: 'List', name: id, isId: true, state: list && trackerState(list.status), under: [{ route: { view: 'lists' }, text: 'Lists' }] })}
        ${
          refused(page, path) ??
          html`${about(list)}
        <section aria-labelledby="jobs-title">
          <h2 id="jobs-title">Jobs, in order</h2>
          ${table({ name: 'Jobs', columns: JOBS, rows: jobs?.jobs, empty: empty('No jobs', html`Add some: <code>groupage lists add ${id} FILE</code>`) })}
          ${pager(from === '0' ? undefined : href({ view: 'list', id }), jobs?.next === undefined ? undefined : href({ view: 'list', id, from: String(jobs.next) }), 'jobs')}
        </section>
        ${command('lists', 'show', id)}`
        }`;
    },
  };
};

const about = (list: List | undefined): TemplateResult => html`
  <div class="figures">
    ${figure('Jobs', list ? count(list.total) : skeleton('s'))}
    ${figure('Available', list ? count(list.available) : skeleton('s'))}
    ${figure('Leased', list ? count(list.leased) : skeleton('s'))}
    ${figure('Started', list ? (list.started === undefined ? '–' : count(list.started)) : skeleton('s'))}
    ${figure('Done', list ? (list.done === undefined ? '–' : count(list.done)) : skeleton('s'), list ? `${count(list.failed)} failed` : nothing)}
  </div>
  ${list ? progress(list.done ?? 0, list.total, listWords(list)) : nothing}
  ${
    list
      ? facts([
          ['Name', list.name],
          ['Operation', list.operation && link({ view: 'operation', name: list.operation }, list.operation)],
          ['Created', html`<time-ago at=${list.createdAt}></time-ago>`],
          ['Ended', list.endedAt && html`<time-ago at=${list.endedAt}></time-ago>`],
          [
            'Waits for',
            list.status === 'open' ? 'its producer to seal it; more jobs can be added until then' : undefined,
          ],
        ])
      : nothing
  }`;
