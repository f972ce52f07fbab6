/** All results of a search. If exactly one thing has the searched id, its view is opened instead. */
import { html, nothing, type TemplateResult } from 'lit';
import type { Found, FoundGroup } from '../../../server/shapes.ts';
import { get, type Reply, searchPath } from '../base/api.ts';
import { capital, count } from '../base/format.ts';
import { href } from '../base/router.ts';
import type { Page, Screen } from '../base/screen.ts';
import { heading } from '../components/heading.ts';
import { empty, link, problem, skeleton } from '../components/parts.ts';
import { groupName, routeOfEnter, routeOfHit, searchedWords, summaryOf, totalOfGroup } from '../model/search.ts';

/** Pause before the search is repeated while the server still reads names, in milliseconds. */
const AGAIN = 1_000;

export const searchScreen = (page: Page, text: string): Screen => {
  let reply: Reply<Found> | undefined;
  const screen: Screen = {
    title: `Search: ${text}`,
    paths: () => [],
    render: () => html`
      ${heading({ kind: 'Search', name: text, isId: true })}
      ${reply ? (reply.ok ? results(page, reply.body) : problem(reply.detail, reply.errors)) : html`<p>${skeleton('l')}</p>`}`,
  };
  const search = async (): Promise<void> => {
    reply = await get<Found>(searchPath(text, true));
    if (!page.isShown(screen)) return;
    const route = routeOfEnter(text, reply.ok ? reply.body : undefined);
    // Replaces the entry in the browser's history, so that Back does not lead here again.
    if (route.view !== 'search') location.replace(href(route));
    else if (reply.ok && reply.body.isReading) setTimeout(() => page.isShown(screen) && void search(), AGAIN);
    page.redraw();
  };
  void search();
  return screen;
};

const results = (page: Page, found: Found): TemplateResult => html`
  <p class="lead" role="status">${capital(summaryOf(found))}. ${searchedWords(found, page.now)}${found.trouble === undefined ? nothing : ` Not everything could be searched: ${found.trouble}.`}</p>
  ${found.groups.map((each) => group(found, each))}
  ${found.groups.length === 0 && !found.isReading ? none(found) : nothing}`;

const group = (found: Found, of: FoundGroup): TemplateResult => html`
  <section aria-labelledby=${`found-${of.kind}`}>
    <h2 id=${`found-${of.kind}`}>${groupName(of.kind)} <span class="muted">${totalOfGroup(found, of)}${of.total > of.hits.length ? `; the best ${count(of.hits.length)} are shown` : nothing}</span></h2>
    <ul class="found">${of.hits.map((hit) => html`<li>${link(routeOfHit(hit), hit.id, 'id')}${hit.about === undefined ? nothing : html` <span class="muted">${hit.about}</span>`}</li>`)}</ul>
  </section>`;

const none = ({ query }: Found): TemplateResult =>
  empty(
    `Nothing is called ${query}`,
    html`Tasks and batches are found by their whole id, other names by any part. A Target beyond the searched ones is found by the beginning of its name, in the same case. See <a href=${href({ view: 'targets' })}>all Targets</a>.`,
  );
