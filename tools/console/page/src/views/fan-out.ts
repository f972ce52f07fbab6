/** A fan-out: its progress, and its failed items. */
import { html, nothing, type TemplateResult } from 'lit';
import type { FanOut } from '../../../../../src/api/fan-outs/responses.ts';
import { PATHS } from '../base/api.ts';
import { count } from '../base/format.ts';
import { href } from '../base/router.ts';
import type { Page, Screen } from '../base/screen.ts';
import { heading } from '../components/heading.ts';
import { command, empty, facts, figure, link, progress, refused, skeleton } from '../components/parts.ts';
import { pager } from '../components/table.ts';
import { endedBecause, endState, fanOutWords } from '../model/words.ts';

interface Items {
  readonly items: readonly string[];
  readonly cursor?: string;
}

/** @param cursor where the page of pending items begins. Only the first page of failed items is shown. */
export const fanOutScreen = (page: Page, id: string, cursor?: string): Screen => {
  const path = PATHS.fanOut(id);
  const failedPath = PATHS.items(id, 'failed');
  const pendingPath = PATHS.items(id, 'pending', cursor);
  const fanOut = (): FanOut | undefined => page.live.body<FanOut>(path);
  return {
    title: `Fan-out ${id}`,
    paths: () => {
      const of = fanOut();
      return [
        path,
        ...(of && of.failed > 0 ? [failedPath] : []),
        ...(of && (hasPending(of) || cursor !== undefined) ? [pendingPath] : []),
      ];
    },
    render: () => {
      const of = fanOut();
      return html`
        ${heading({ kind: 'Fan-out', name: id, isId: true, state: of && endState(of.status, of.failed > 0 && of.allSucceededAt === undefined), under: [{ route: { view: 'fan-outs' }, text: 'Fan-outs' }] })}
        ${refused(page, path) ?? about(of)}
        ${of && of.failed > 0 ? failedItems(of, page.live.body<Items>(failedPath)) : nothing}
        ${of && (hasPending(of) || cursor !== undefined) ? pendingItems(id, cursor, page.live.body<Items>(pendingPath)) : nothing}
        ${command('fan-out', 'show', id)}`;
    },
  };
};

/** Whether the fan-out may have pending items whose rows still exist. */
const hasPending = ({ status, because, total, pending }: FanOut): boolean =>
  status !== 'expired' && because !== 'all-done' && (pending ?? total) > 0;

const about = (of: FanOut | undefined): TemplateResult => html`
  <div class="figures">
    ${figure('Items', of ? count(of.total) : skeleton('s'))}
    ${figure('Succeeded', of ? (of.succeeded === undefined ? '–' : count(of.succeeded)) : skeleton('s'))}
    ${figure('Failed', of ? count(of.failed, of.countsAreAtLeast) : skeleton('s'))}
    ${figure('Pending', of ? (of.pending === undefined ? '–' : count(of.pending)) : skeleton('s'))}
  </div>
  ${of ? progress((of.succeeded ?? 0) + of.failed, of.total, fanOutWords(of)) : nothing}
  ${
    of
      ? facts([
          ['About', of.userKey],
          ['Opened', html`<time-ago at=${of.createdAt}></time-ago>`],
          [
            'Ended',
            of.endedAt &&
              html`<time-ago at=${of.endedAt}></time-ago>${of.because ? `, because ${endedBecause(of.because)}` : ''}`,
          ],
          [
            'All succeeded',
            of.allSucceededAt &&
              html`<time-ago at=${of.allSucceededAt}></time-ago>, after redrives of the failed items`,
          ],
          ['Callback', of.callback],
          [
            'Waits for',
            of.status === 'open' ? 'its producer to seal it; more items can be added until then' : undefined,
          ],
        ])
      : nothing
  }`;

/**
 * The failed items are shown without links. An item may belong to a task, but the id of the item does not say to which
 * task.
 */
const failedItems = (of: FanOut, found: Items | undefined): TemplateResult => html`
  <section aria-labelledby="failed-title">
    <h2 id="failed-title">Failed items</h2>
    ${
      found?.items.length === 0 && !found.cursor
        ? empty('No item is failed any more', whyNone(of))
        : html`<ul class="members">${found?.items.map((item) => html`<li><code class="id">${item}</code></li>`)}</ul>`
    }
    ${found?.cursor ? html`<p class="muted">There are more. The page ${link({ view: 'failures' }, 'Failures')} shows failed tasks by cause.</p>` : nothing}
  </section>`;

const whyNone = ({ allSucceededAt, status }: FanOut): string =>
  allSucceededAt === undefined && status === 'expired'
    ? 'The items of an expired fan-out are deleted.'
    : 'Redrives of the failed items have succeeded. The counts of the end stay as they were.';

const pendingItems = (id: string, cursor: string | undefined, found: Items | undefined): TemplateResult => html`
  <section aria-labelledby="pending-title">
    <h2 id="pending-title">Pending items</h2>
    ${
      found?.items.length === 0
        ? empty(
            found.cursor ? 'No pending item in this part of the fan-out' : 'No pending item on this page',
            found.cursor ? 'Pending items may follow on the next page.' : 'All of its items have an outcome.',
          )
        : html`<ul class="members">${found?.items.map((item) => html`<li><code class="id">${item}</code></li>`)}</ul>`
    }
    ${pager(cursor === undefined ? undefined : href({ view: 'fan-out', id }), found?.cursor === undefined ? undefined : href({ view: 'fan-out', id, cursor: found.cursor }), 'pending items')}
  </section>`;
