/** A fan-out: its progress, and its failed items. */
import { html, nothing, type TemplateResult } from 'lit';
import type { FanOut } from '../../../../../src/api/fan-outs/responses.ts';
import { PATHS } from '../base/api.ts';
import { count } from '../base/format.ts';
import type { Page, Screen } from '../base/screen.ts';
import { heading } from '../components/heading.ts';
import { command, empty, facts, figure, link, progress, refused, skeleton } from '../components/parts.ts';
import { endedBecause, fanOutWords, trackerState } from '../model/words.ts';

interface FailedItems {
  readonly items: readonly string[];
  readonly cursor?: string;
}

export const fanOutScreen = (page: Page, id: string): Screen => {
  const path = PATHS.fanOut(id);
  const failedPath = `${path}/failed`;
  const fanOut = (): FanOut | undefined => page.live.body<FanOut>(path);
  return {
    title: `Fan-out ${id}`,
    paths: () => ((fanOut()?.failed ?? 0) > 0 ? [path, failedPath] : [path]),
    render: () => {
      const of = fanOut();
      return html`
        ${heading({ kind: 'Fan-out', name: id, isId: true, state: of && trackerState(of.status), under: [{ route: { view: 'fan-outs' }, text: 'Fan-outs' }] })}
        ${refused(page, path) ?? about(of)}
        ${of && of.failed > 0 ? failedItems(page.live.body<FailedItems>(failedPath)) : nothing}
        ${command('fan-out', 'show', id)}`;
    },
  };
};

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
const failedItems = (found: FailedItems | undefined): TemplateResult => html`
  <section aria-labelledby="failed-title">
    <h2 id="failed-title">Failed items</h2>
    ${
      found?.items.length === 0 && !found.cursor
        ? empty('No failed item is listed any more', 'The items of an expired fan-out are deleted.')
        : html`<ul class="members">${found?.items.map((item) => html`<li><code class="id">${item}</code></li>`)}</ul>`
    }
    ${found?.cursor ? html`<p class="muted">There are more. The page ${link({ view: 'failures' }, 'Failures')} shows failed tasks by cause.</p>` : nothing}
  </section>`;
