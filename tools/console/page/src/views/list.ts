/** A deferred list: its progress, the claims of its workers, and its jobs page by page. */
import { html, nothing, type TemplateResult } from 'lit';
import type { Job, List, ListedClaimView } from '../../../../../src/api/lists/responses.ts';
import { because, PATHS, remove } from '../base/api.ts';
import { count, plural } from '../base/format.ts';
import { href, type Route } from '../base/router.ts';
import type { Page, Screen } from '../base/screen.ts';
import { ask } from '../components/dialogs.ts';
import { heading } from '../components/heading.ts';
import { badge, command, empty, facts, figure, link, progress, refused, skeleton } from '../components/parts.ts';
import { type Column, pager, table } from '../components/table.ts';
import { claimState, endState, jobState, listWords } from '../model/words.ts';

interface Jobs {
  readonly jobs: readonly Job[];
  readonly next?: number;
}

/** Characters of a payload that are shown. */
const PAYLOAD_SHOWN = 60;
const inBrief = (text: string): string => (text.length > PAYLOAD_SHOWN ? `${text.slice(0, PAYLOAD_SHOWN)} …` : text);

const errorOf = ({ error, redrivenAt }: Job): unknown => {
  if (error) return html`<code>${error.code}</code> ${error.message}`;
  return redrivenAt ? html`its task was redriven <time-ago at=${redrivenAt}></time-ago>` : nothing;
};

const JOBS: readonly Column<Job>[] = [
  { name: 'Job', number: true, cell: ({ token }) => token },
  { name: 'Status', cell: ({ status }) => badge(jobState(status)) },
  { name: 'Deliveries', number: true, minor: true, cell: ({ deliveries }) => deliveries ?? nothing },
  { name: 'Task', cell: ({ task }) => (task ? link({ view: 'task', id: task }, task, 'id') : '–') },
  { name: 'Error', cell: errorOf },
  { name: 'Payload', minor: true, cell: ({ payload }) => html`<code>${inBrief(JSON.stringify(payload))}</code>` },
];

interface Claims {
  readonly claims: readonly ListedClaimView[];
}

const claimColumns = (page: Page, id: string): readonly Column<ListedClaimView>[] => [
  { name: 'Claim', cell: ({ claim }) => html`<code>${claim}</code>` },
  { name: 'Holder', cell: ({ holder }) => holder ?? '–' },
  { name: 'State', cell: ({ state }) => badge(claimState(state)) },
  { name: 'Claimed', minor: true, cell: ({ since }) => (since ? html`<time-ago at=${since}></time-ago>` : '–') },
  { name: 'Jobs left', number: true, cell: ({ jobs }) => count(jobs) },
  { name: 'Delivery', number: true, minor: true, cell: ({ deliveries }) => deliveries },
  { name: 'Lease ends', cell: ({ expiresAt }) => html`<time-ago at=${expiresAt}></time-ago>` },
  { name: 'End it', cell: (claim) => breakButton(page, id, claim) },
];

const breakButton = (page: Page, id: string, { claim, holder, state, jobs }: ListedClaimView): unknown => {
  if (state === 'available') return nothing;
  const end = (): void =>
    ask(page, {
      title: `End the claim of ${holder ?? claim}`,
      text: `End the claim only if its worker has died. Others can claim its ${plural(jobs, 'job')} at once, and the delivery counts for these jobs. If the worker still runs, it may work on a job that another worker has, until its next call.`,
      button: 'End the claim',
      run: (reason) => remove(because(PATHS.claim(id, claim), reason)),
      done: (body) => `${plural((body as { released: number }).released, 'job')} can be claimed by others now`,
    });
  return html`<button class="small" @click=${end}>End…<span class="unseen"> claim of ${holder ?? claim}</span></button>`;
};

/** Most claims that are shown: the first ones to end. */
const CLAIMS_SHOWN = 100;

const claimsOf = (page: Page, id: string, claims: readonly ListedClaimView[] | undefined): unknown =>
  claims === undefined || claims.length === 0
    ? nothing
    : html`
      <section aria-labelledby="claims-title">
        <h2 id="claims-title">Claims of workers, by the end of their leases</h2>
        ${table({ name: 'Claims', columns: claimColumns(page, id), rows: claims.slice(0, CLAIMS_SHOWN), empty: empty('No claims', '') })}
        ${claims.length > CLAIMS_SHOWN ? html`<p class="muted">The first ${count(CLAIMS_SHOWN)} of ${count(claims.length)} are shown. All: <code>groupage lists claims ${id}</code></p>` : nothing}
      </section>`;

/** The statuses to choose from, with their texts. */
const STATUSES = [
  ['waiting', 'waiting'],
  ['leased', 'claimed by a worker'],
  ['started', 'started as a task'],
  ['succeeded', 'succeeded'],
  ['failed', 'failed'],
] as const;

const jobFilter = (page: Page, id: string, status: string | undefined): TemplateResult => {
  const choose = (event: Event): void => {
    const { value } = event.target as HTMLSelectElement;
    page.go({ view: 'list', id, ...(value === '' ? {} : { status: value }) });
  };
  return html`
    <form class="filters" role="search" aria-label="Jobs" @submit=${(event: SubmitEvent) => event.preventDefault()}>
      <label>Status
        <select @change=${choose}>
          <option value="" ?selected=${status === undefined}>any</option>
          ${STATUSES.map(([value, text]) => html`<option value=${value} ?selected=${status === value}>${text}</option>`)}
        </select></label>
    </form>`;
};

export const listScreen = (page: Page, { id, from = '0', status }: Route & { readonly view: 'list' }): Screen => {
  const path = PATHS.list(id);
  const jobsPath = PATHS.jobs(id, Number.parseInt(from, 10) || 0, status);
  const filter = status === undefined ? {} : { status };
  const claimsPath = PATHS.claims(id);
  return {
    title: `List ${id}`,
    paths: () => [path, claimsPath, jobsPath],
    render: () => {
      const list = page.live.body<List>(path);
      const jobs = page.live.body<Jobs>(jobsPath);
      return html`
        ${heading({ kind: 'List', name: id, isId: true, state: list && endState(list.status, list.failed > 0), under: [{ route: { view: 'lists' }, text: 'Lists' }] })}
        ${
          refused(page, path) ??
          html`${about(list)}
        ${claimsOf(page, id, page.live.body<Claims>(claimsPath)?.claims)}
        <section aria-labelledby="jobs-title">
          <h2 id="jobs-title">Jobs, in order</h2>
          ${jobFilter(page, id, status)}
          ${table({ name: 'Jobs', columns: JOBS, rows: jobs?.jobs, empty: noJobs(id, status, jobs) })}
          ${pager(from === '0' ? undefined : href({ view: 'list', id, ...filter }), jobs?.next === undefined ? undefined : href({ view: 'list', id, ...filter, from: String(jobs.next) }), 'jobs')}
        </section>
        ${command('lists', 'show', id)}`
        }`;
    },
  };
};

const noJobs = (id: string, status: string | undefined, jobs: Jobs | undefined): TemplateResult => {
  if (status === undefined) return empty('No jobs', html`Add some: <code>groupage lists add ${id} FILE</code>`);
  const rest =
    jobs?.next === undefined ? 'Choose another status to see the other jobs.' : 'They may follow on the next page.';
  return empty('No job on this page has this status', rest);
};

const about = (list: List | undefined): TemplateResult => html`
  <div class="figures">
    ${figure('Jobs', list ? count(list.total) : skeleton('s'))}
    ${figure('Available', list ? count(list.available) : skeleton('s'))}
    ${figure('Claimed', list ? count(list.leased) : skeleton('s'))}
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
