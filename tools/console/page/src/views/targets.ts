/** Targets of all operations or of one, page by page, with a search by a part of their names, and with filters. */
import { html, nothing, type TemplateResult } from 'lit';
import type { TargetPage } from '../../../../../src/api/targets/responses.ts';
import { PATHS } from '../base/api.ts';
import { plural } from '../base/format.ts';
import { href, type Route } from '../base/router.ts';
import type { Page, Screen } from '../base/screen.ts';
import { heading } from '../components/heading.ts';
import { empty, refused } from '../components/parts.ts';
import { sendHint } from '../components/send-dialog.ts';
import { pager } from '../components/table.ts';
import { targetTable } from '../components/target-table.ts';

type TargetsRoute = Extract<Route, { view: 'targets' }>;

const LIMIT = 50;
/** How long after the last keystroke the search starts, in milliseconds. */
const TYPED = 300;

export const targetsScreen = (page: Page, route: TargetsRoute): Screen => {
  const path = PATHS.targets({ ...route, limit: LIMIT });
  return {
    title: 'Targets',
    paths: () => [path],
    render: () => {
      const found = page.live.body<TargetPage>(path);
      return html`
        ${heading({ name: 'Targets' })}
        ${filters(page, route)}
        <p class="lead" role="status">${found ? covered(found, route) : nothing}</p>
        ${refused(page, path) ?? targetTable(found?.targets, page.now, none(page, route))}
        ${pager(
          route.cursor === undefined ? undefined : href({ ...route, cursor: '' }),
          found?.cursor === undefined ? undefined : href({ ...route, cursor: found.cursor }),
          'Targets',
        )}`;
    },
  };
};

const SORTS = [
  ['', 'all, by name'],
  ['waiting', 'with waiting tasks, most first'],
  ['oldest', 'with waiting tasks, oldest first'],
  ['retried', 'with batches under way (retried, held, job runs), oldest first'],
  ['failed', 'with failed tasks, most first'],
  ['paused', 'paused, or without a free slot, longest first'],
] as const;

const filters = (page: Page, route: TargetsRoute): TemplateResult => {
  const operations = page.about?.operations ?? [];
  return html`
    <form class="filters" role="search" aria-label="Targets" @submit=${(event: SubmitEvent) => event.preventDefault()}>
      <label>Operation
        <select @change=${(event: Event) => choose(page, route, 'operation', (event.target as HTMLSelectElement).value)}>
          <option value="" ?selected=${route.operation === undefined}>all</option>
          ${operations.map((each) => html`<option ?selected=${each === route.operation}>${each}</option>`)}
        </select>
      </label>
      <label>Show
        <select @change=${(event: Event) => choose(page, route, 'sort', (event.target as HTMLSelectElement).value)}>
          ${SORTS.map(([value, text]) => html`<option value=${value} ?selected=${value === (route.sort ?? '')}>${text}</option>`)}
        </select>
      </label>
      <label class="grows">Name contains
        <input type="search" .value=${route.search ?? ''} autocomplete="off" spellcheck="false" placeholder="for example DHL"
          @input=${(event: Event) => searchSoon(page, route, (event.target as HTMLInputElement).value)} />
      </label>
    </form>`;
};

const choose = (page: Page, route: TargetsRoute, name: 'operation' | 'sort', value: string): void => {
  const { cursor: _, [name]: __, ...rest } = route;
  page.go({ ...rest, ...(value === '' ? {} : { [name]: value }) });
};

let typed: ReturnType<typeof setTimeout> | undefined;

/** Searches after the user stops typing. Adds no entry to the browser's history. */
const searchSoon = (page: Page, { cursor: _, search: __, ...route }: TargetsRoute, search: string): void => {
  clearTimeout(typed);
  typed = setTimeout(() => page.replace({ ...route, ...(search === '' ? {} : { search }) }), TYPED);
};

/** What a sorted or searched list covers. */
const covered = ({ targets, looked, found, cursor }: TargetPage, { sort, search }: TargetsRoute): string => {
  if (looked === undefined) return '';
  const first =
    found !== undefined && found > targets.length ? `The first ${targets.length} of ${plural(found, 'Target')}. ` : '';
  const among = `${first}Among ${plural(looked, 'Target')}`;
  if (sort === 'retried') return `${among} with batches under way.`;
  return cursor
    ? `${among}, in the order of their names. There are more: the next page looks at the next ones.`
    : `${among}: all${search ? ' whose names were searched' : ''}.`;
};

const none = (page: Page, { operation, search, sort, cursor }: TargetsRoute): TemplateResult => {
  const all = html`<a href=${href({ view: 'targets', ...(operation ? { operation } : {}) })}>Show all Targets</a>`;
  if (search) return empty(`No Target contains "${search}"`, html`Upper and lower case are the same. ${all}`);
  if (sort) return empty('No Target has any', all);
  if (cursor) return empty('No more Targets', html`<a href=${href({ view: 'targets' })}>Go to the first page</a>`);
  return empty('No task was registered yet', sendHint(page, operation));
};
