/** Batches of all operations or of one: the newest, or those under way; by state and by fill. */
import { html, nothing, type TemplateResult } from 'lit';
import type { BatchPage } from '../../../../../src/api/batches/responses.ts';
import { PATHS } from '../base/api.ts';
import { count, plural } from '../base/format.ts';
import { href, type Route } from '../base/router.ts';
import type { Page, Screen } from '../base/screen.ts';
import { batchTable } from '../components/batch-table.ts';
import { heading } from '../components/heading.ts';
import { command, empty, refused } from '../components/parts.ts';
import { pager } from '../components/table.ts';
import { FILLS, hasFill, hasState, STATES } from '../model/batch-filters.ts';

type BatchesRoute = Extract<Route, { view: 'batches' }>;

const LIMIT = 50;
const UNDER_WAY = 'under-way';

export const batchesScreen = (page: Page, route: BatchesRoute): Screen => {
  const operations = () => page.about?.operations ?? [];
  // The batches under way are listed for one operation.
  const operation = () => route.operation ?? (route.which === UNDER_WAY ? operations()[0] : undefined);
  const path = (): string =>
    PATHS.batches({ operation: operation(), which: route.which, cursor: route.cursor, limit: LIMIT });
  return {
    title: 'Batches',
    paths: () => (page.about ? [path()] : []),
    render: () => {
      const found = page.live.body<BatchPage>(path());
      const shown = found?.batches.filter((batch) => hasState(batch, route.state) && hasFill(batch, route.fill));
      return html`
        ${heading({ name: 'Batches' })}
        ${filters(page, route, operation(), operations())}
        <p class="lead" role="status">${found ? summary(found, shown?.length ?? 0, route) : '…'}</p>
        ${refused(page, path()) ?? batchTable(shown, { showsTarget: true, none: none(route) })}
        ${pager(
          route.cursor === undefined ? undefined : href({ ...route, cursor: '' }),
          found?.cursor === undefined ? undefined : href({ ...route, cursor: found.cursor }),
          'batches',
        )}
        ${operation() === undefined ? nothing : command('batches', '--operation', operation() as string, ...(route.which === UNDER_WAY ? ['--under-way'] : []))}`;
    },
  };
};

/** What the list contains, and what it leaves out. */
const summary = ({ batches, looked, cursor }: BatchPage, shown: number, { which }: BatchesRoute): string => {
  const filtered = shown < batches.length ? `${count(shown)} of ` : '';
  if (which === UNDER_WAY)
    return `${filtered}${plural(batches.length, 'batch', 'batches')} under way, the one with the oldest task first${cursor ? '; there are more on the next page' : ''}. They have had an attempt, or have been held for over 15 minutes.`;
  return `${filtered}${plural(batches.length, 'batch', 'batches')}, the newest of ${plural(looked ?? 0, 'Target')}${cursor ? '; batches of other Targets are on the next page' : ''}.`;
};

const none = ({ which, state, fill }: BatchesRoute): TemplateResult => {
  if (state ?? fill) return empty('No batch of this list matches', 'Change the state or the fill above.');
  return which === UNDER_WAY
    ? empty('No batch is under way', 'Batches in their first attempt are not listed here.')
    : empty('No batch yet', 'A batch is sealed when it is full, or when its oldest task has waited long enough.');
};

const filters = (
  page: Page,
  route: BatchesRoute,
  operation: string | undefined,
  operations: readonly string[],
): TemplateResult => {
  const select = (
    label: string,
    name: 'operation' | 'which' | 'state' | 'fill',
    value: string | undefined,
    options: readonly (readonly [value: string, text: string])[],
  ): TemplateResult => html`
    <label>${label}
      <select @change=${(event: Event) => choose(page, route, name, (event.target as HTMLSelectElement).value)}>
        ${options.map(([each, text]) => html`<option value=${each} ?selected=${each === (value ?? '')}>${text}</option>`)}
      </select>
    </label>`;
  const all = route.which === UNDER_WAY ? [] : [['', 'all'] as const];
  return html`
    <form class="filters" role="search" aria-label="Batches" @submit=${(event: SubmitEvent) => event.preventDefault()}>
      ${select('Operation', 'operation', operation, [...all, ...operations.map((each) => [each, each] as const)])}
      ${select('Show', 'which', route.which, [
        ['', 'the newest'],
        [UNDER_WAY, 'under way (retried, held, job runs), oldest first'],
      ])}
      ${select('State', 'state', route.state, [['', 'any'], ...STATES])}
      ${select('Fill', 'fill', route.fill, [['', 'any'], ...FILLS])}
    </form>`;
};

/** Another list begins at its first page. A filter of the same list keeps the page. */
const choose = (
  page: Page,
  route: BatchesRoute,
  name: 'operation' | 'which' | 'state' | 'fill',
  value: string,
): void => {
  const { cursor, [name]: _, ...rest } = route;
  const isSameList = name === 'state' || name === 'fill';
  page.go({
    ...rest,
    ...(value === '' ? {} : { [name]: value }),
    ...(isSameList && cursor ? { cursor } : {}),
  } as BatchesRoute);
};
