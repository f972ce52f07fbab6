/** The top of the page: navigation, search, and the actions that every view offers. */
import { html, type TemplateResult } from 'lit';
import { href, type Route } from './base/router.ts';
import type { Page } from './base/screen.ts';
import { choose, nextTheme, theme } from './theme.ts';

/** The entries of the navigation, with the views that belong to each. */
const PARTS: readonly { readonly name: string; readonly route: Route; readonly views: readonly Route['view'][] }[] = [
  { name: 'Overview', route: { view: 'overview' }, views: ['overview'] },
  { name: 'Operations', route: { view: 'operations' }, views: ['operations', 'operation'] },
  { name: 'Targets', route: { view: 'targets' }, views: ['targets', 'target', 'task'] },
  { name: 'Batches', route: { view: 'batches' }, views: ['batches', 'batch'] },
  { name: 'Limits', route: { view: 'limits' }, views: ['limits', 'limit'] },
  { name: 'Failures', route: { view: 'failures' }, views: ['failures', 'rejected', 'given-up'] },
  { name: 'Fan-outs', route: { view: 'fan-outs' }, views: ['fan-outs', 'fan-out'] },
  { name: 'Lists', route: { view: 'lists' }, views: ['lists', 'list'] },
  { name: 'Fleets', route: { view: 'fleets' }, views: ['fleets', 'fleet'] },
  { name: 'Audit', route: { view: 'audit' }, views: ['audit'] },
];

export const header = (page: Page, route: Route, send: () => void): TemplateResult => html`
  <header>
    <div class="bar">
      <a class="brand" href=${href({ view: 'overview' })}><span class="mark" aria-hidden="true"></span>Groupage</a>
      <span class="source">${sourceOf(page)}</span>
      <search-field .page=${page}></search-field>
      <button class="primary send" ?disabled=${page.about === undefined} @click=${send}>Send a task</button>
      <button class="theme" title=${`Change to ${nextTheme()}`} @click=${() => turn(page)}>
        <span class="unseen">Colours: </span>${themeName()}
      </button>
    </div>
    <nav aria-label="Parts of the console"><ul>
      ${PARTS.map(
        ({ name, route: to, views }) =>
          html`<li><a href=${href(to)} aria-current=${views.includes(route.view) ? 'page' : 'false'}>${name}</a></li>`,
      )}
    </ul></nav>
  </header>
`;

const sourceOf = ({ about }: Page): string => {
  if (!about) return '…';
  const { source } = about;
  switch (source.kind) {
    case 'local':
      return 'on this machine';
    case 'stack':
      return `${source.name} · ${source.region}`;
    case 'api':
      return source.url;
  }
};

const themeName = (): string => ({ system: 'Auto', light: 'Light', dark: 'Dark' })[theme()];

const turn = (page: Page): void => {
  choose(nextTheme());
  page.redraw();
};
