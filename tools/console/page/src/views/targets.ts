/** Targets of all operations or of one, page by page, with a search by the start of their values. */
import { html, nothing, type TemplateResult } from 'lit';
import type { TargetPage } from '../../../../../src/api/targets/responses.ts';
import { PATHS } from '../base/api.ts';
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
        ${refused(page, path) ?? targetTable(found?.targets, page.now, none(page, route))}
        ${pager(
          route.cursor === undefined ? undefined : href({ ...route, cursor: '' }),
          found?.cursor === undefined ? undefined : href({ ...route, cursor: found.cursor }),
          'Targets',
        )}`;
    },
  };
};

/**
 * The fields for a search. A search covers the Targets of one operation: the only configured operation, or the chosen
 * one.
 */
const filters = (page: Page, route: TargetsRoute): TemplateResult => {
  const operations = page.about?.operations ?? [];
  const operation = route.operation ?? (operations.length === 1 ? operations[0] : undefined);
  return html`
    <form class="filters" role="search" aria-label="Targets" @submit=${(event: SubmitEvent) => event.preventDefault()}>
      <label>Operation
        <select @change=${(event: Event) => choose(page, (event.target as HTMLSelectElement).value)}>
          <option value="" ?selected=${route.operation === undefined}>all</option>
          ${operations.map((each) => html`<option ?selected=${each === route.operation}>${each}</option>`)}
        </select>
      </label>
      <label class="grows">Begins with
        <input type="search" .value=${route.prefix ?? ''} autocomplete="off" spellcheck="false" ?disabled=${operation === undefined}
          placeholder=${operation === undefined ? 'choose an operation first' : 'for example carrier=DHL'}
          @input=${(event: Event) => searchSoon(page, operation, (event.target as HTMLInputElement).value)} />
      </label>
    </form>`;
};

const choose = (page: Page, operation: string): void =>
  page.go({ view: 'targets', ...(operation === '' ? {} : { operation }) });

let typed: ReturnType<typeof setTimeout> | undefined;

/** Searches after the user stops typing. Adds no entry to the browser's history. */
const searchSoon = (page: Page, operation: string | undefined, prefix: string): void => {
  clearTimeout(typed);
  if (operation === undefined) return;
  typed = setTimeout(() => page.replace({ view: 'targets', operation, prefix }), TYPED);
};

const none = (page: Page, { operation, prefix, cursor }: TargetsRoute): TemplateResult => {
  if (prefix)
    return empty(
      `No Target begins with ${operation ?? ''}/${prefix}`,
      html`The search distinguishes upper and lower case. <a href=${href({ view: 'targets', ...(operation ? { operation } : {}) })}>Show all</a>${nothing}`,
    );
  if (cursor) return empty('No more Targets', html`<a href=${href({ view: 'targets' })}>Go to the first page</a>`);
  return empty('No task was registered yet', sendHint(page, operation));
};
