/** A limit: the use of each of its buckets, and the Targets that wait there. */
import { html, nothing, type TemplateResult } from 'lit';
import type { Limit, LimitBucket } from '../../../../../src/api/limits/responses.ts';
import { bucketName, forEachOf, inProgressOf, oldestOf, startsOf, usedOf } from '../../../../limit-words.ts';
import { PATHS } from '../base/api.ts';
import { count } from '../base/format.ts';
import { href, type Route } from '../base/router.ts';
import type { Page, Screen } from '../base/screen.ts';
import { heading } from '../components/heading.ts';
import { breakable, command, empty, facts, isUnknown, link, refused } from '../components/parts.ts';
import { type Column, pager, table } from '../components/table.ts';

type LimitRoute = Extract<Route, { view: 'limit' }>;
type LimitPage = Limit & { readonly buckets: readonly LimitBucket[]; readonly cursor?: string };

/** How long after the last keystroke the search starts, in milliseconds. */
const TYPED = 300;

export const limitScreen = (page: Page, route: LimitRoute): Screen => {
  const { name, key, cursor } = route;
  const path = PATHS.limit(name, key, cursor);
  return {
    title: `Limit ${name}`,
    paths: () => [path],
    render: () => {
      const limit = page.live.body<LimitPage>(path);
      return html`
        ${heading({ kind: 'Limit', name, under: [{ route: { view: 'limits' }, text: 'Limits' }] })}
        ${isUnknown(page, path) ? nothing : about(limit)}
        ${limit?.key === undefined && key === undefined ? nothing : keyField(page, route)}
        ${refused(page, path) ?? buckets(limit, route)}
        ${limit?.buckets.filter(({ next }) => next.length > 0).map(waiting)}
        ${command('limits', name, ...(key === undefined ? [] : ['--key', key]))}`;
    },
  };
};

const about = (limit: Limit | undefined): TemplateResult =>
  facts([
    ['Starts', limit && startsOf(limit)],
    ['At once', limit && startsOf(limit) && limit.burst > 1 ? count(limit.burst) : undefined],
    ['In progress', limit && inProgressOf(limit)],
    ['For each', limit && forEachOf(limit)],
    ['Operations', limit?.operations.map((name) => html`${link({ view: 'operation', name }, name)} `)],
  ]);

const keyField = (page: Page, route: LimitRoute): TemplateResult => html`
  <form class="filters" role="search" aria-label="Buckets" @submit=${(event: SubmitEvent) => event.preventDefault()}>
    <label class="grows">Key begins with
      <input type="search" .value=${route.key ?? ''} autocomplete="off" spellcheck="false" placeholder="for example account=17"
        @input=${(event: Event) => searchSoon(page, route.name, (event.target as HTMLInputElement).value)} />
    </label>
  </form>`;

let typed: ReturnType<typeof setTimeout> | undefined;

/** Searches after the user stops typing. Adds no entry to the browser's history. */
const searchSoon = (page: Page, name: string, key: string): void => {
  clearTimeout(typed);
  typed = setTimeout(() => page.replace({ view: 'limit', name, ...(key === '' ? {} : { key }) }), TYPED);
};

const buckets = (limit: LimitPage | undefined, route: LimitRoute): TemplateResult => html`
  <section aria-labelledby="buckets-title">
    <h2 id="buckets-title">Used now</h2>
    ${table({ name: 'Buckets', columns: columnsOf(limit), rows: limit?.buckets, expected: 1, empty: none(route) })}
    ${
      route.cursor === undefined && limit?.cursor === undefined
        ? nothing
        : pager(
            route.cursor === undefined ? undefined : href({ ...route, cursor: '' }),
            limit?.cursor === undefined ? undefined : href({ ...route, cursor: limit.cursor }),
            'buckets',
          )
    }
  </section>`;

/** A column for each of what the limit counts. */
const columnsOf = (limit: LimitPage | undefined): readonly Column<LimitBucket>[] => {
  const counted = (name: string, of: 'calls' | 'weight' | 'inProgress' | 'weightInProgress') =>
    limit?.buckets.some((bucket) => bucket[of]) ? [{ name, number: true as const, cell: usage(of) }] : [];
  return [
    { name: 'Bucket', cell: (bucket) => breakable(bucketName(bucket)) },
    ...counted('Calls', 'calls'),
    ...counted('Weight', 'weight'),
    ...counted('In progress', 'inProgress'),
    ...counted('Weight in progress', 'weightInProgress'),
    { name: 'Next call', number: true, cell: ({ nextAt }) => nextCall(nextAt) },
    { name: 'Planned', number: true, minor: true, cell: ({ planned = 0 }) => count(planned) },
    { name: 'Waiting', number: true, cell: ({ waiting, waitingIsAtLeast }) => count(waiting, waitingIsAtLeast) },
    {
      name: 'Oldest task',
      number: true,
      cell: (bucket) => {
        const at = oldestOf(bucket);
        return at === undefined ? '–' : html`<time-ago at=${at} form="age"></time-ago>`;
      },
    },
  ];
};

const usage =
  (of: 'calls' | 'weight' | 'inProgress' | 'weightInProgress') =>
  (bucket: LimitBucket): unknown => {
    const use = bucket[of];
    return use
      ? html`<span class="fill"><meter min="0" max=${use.allowed} .value=${use.used} aria-label="used"></meter>${usedOf(use)}</span>`
      : '–';
  };

const nextCall = (at: string | undefined): unknown => {
  if (at === undefined) return 'after a call ends';
  return Date.parse(at) <= Date.now() ? 'now' : html`<time-ago at=${at}></time-ago>`;
};

const none = ({ name, key }: LimitRoute): TemplateResult =>
  key === undefined
    ? empty('No call has counted in the last 7 days', 'A bucket is shown after its first call.')
    : empty(
        `No bucket has a key that begins with "${key}"`,
        html`Upper and lower case differ. ${link({ view: 'limit', name }, 'Show all buckets')}`,
      );

const waiting = (bucket: LimitBucket): TemplateResult => {
  const { next, waiting: all, waitingIsAtLeast } = bucket;
  const of = bucketName(bucket);
  const title = of === 'all calls' ? 'Waiting, the next one first' : `Waiting under ${of}, the next one first`;
  return html`
    <section aria-label=${title}>
      <h2>${title}</h2>
      ${all > next.length ? html`<p class="muted">The first ${count(next.length)} of ${count(all, waitingIsAtLeast)}.</p>` : nothing}
      ${table({
        name: title,
        columns: [
          { name: 'Target', cell: ({ target }) => link({ view: 'target', target }, target) },
          {
            name: 'For',
            cell: ({ batchId }) =>
              batchId === undefined
                ? 'its next batch'
                : html`another attempt of ${link({ view: 'batch', id: batchId }, batchId, 'id')}`,
          },
          { name: 'Weight', number: true, cell: ({ weight }) => count(weight) },
          {
            name: 'Oldest task',
            number: true,
            cell: ({ since }) => html`<time-ago at=${since} form="age"></time-ago>`,
          },
        ],
        rows: next,
        empty: empty('No Target waits', ''),
      })}
    </section>`;
};
