/** A batch: why it was sealed, the outcome of its calls, and its tasks. */
import { html, nothing, type TemplateResult } from 'lit';
import type { Batch } from '../../../../../src/api/batches/responses.ts';
import { PATHS } from '../base/api.ts';
import { count, duration, percent, plural } from '../base/format.ts';
import type { Page, Screen } from '../base/screen.ts';
import { belonging, heading } from '../components/heading.ts';
import { command, empty, facts, figure, fill, isUnknown, link, skeleton } from '../components/parts.ts';
import { batchState, sealedBecause } from '../model/words.ts';

/** Number of links to tasks that are shown at first. */
const MEMBERS = 100;

export const batchScreen = (page: Page, id: string): Screen => {
  const path = PATHS.batch(id);
  let isAll = false;
  const showAll = (): void => {
    isAll = true;
    page.redraw();
  };
  return {
    title: `Batch ${id}`,
    paths: () => [path],
    render: () => {
      const batch = page.live.body<Batch>(path);
      return html`
        ${heading({
          kind: 'Batch',
          name: id,
          isId: true,
          state: batch && batchState(batch.status),
          under: belonging(batch),
        })}
        ${isUnknown(page, path) ? empty('This batch does not exist', 'It may have expired: batches are kept as long as their tasks. A batch id looks like TARGET#2#5.') : about(batch, isAll, showAll, page.now)}`;
    },
  };
};

const about = (batch: Batch | undefined, isAll: boolean, showAll: () => void, now: number): TemplateResult => html`
  <div class="figures">
    ${figure('Tasks', batch ? count(batch.size) : skeleton('s'), batch ? fill(batch.fill) : nothing)}
    ${figure('Succeeded', batch ? count(batch.counts?.succeeded ?? 0) : skeleton('s'), batch ? percent((batch.counts?.succeeded ?? 0) / Math.max(1, batch.size)) : nothing)}
    ${figure('Failed', batch ? count(batch.counts?.failed ?? 0) : skeleton('s'), batch?.pending ? `${plural(batch.pending, 'job')} still to report` : nothing)}
    ${figure('Attempt', batch ? count(batch.attempt) : skeleton('s'), batch?.attempts === undefined ? nothing : `${count(batch.attempts)} counted ${batch.attempts === 1 ? 'attempt' : 'attempts'}`)}
  </div>
  ${batch ? story(batch, now) : nothing}
  <section aria-labelledby="members-title">
    <h2 id="members-title">Tasks, in the order in which they waited</h2>
    <ol class="members">
      ${(isAll ? batch?.members : batch?.members?.slice(0, MEMBERS))?.map((id) => html`<li>${link({ view: 'task', id }, id, 'id')}</li>`)}
    </ol>
    ${!isAll && batch?.members && batch.members.length > MEMBERS ? html`<button @click=${showAll}>Show all ${count(batch.members.length)}</button>` : nothing}
  </section>
  ${batch ? command('batches', '--target', batch.target) : nothing}`;

const story = (batch: Batch, now: number): TemplateResult => {
  const { oldestAt, sealedAt, startedAt, finishedAt, nextAttemptAfter, lastAttempt } = batch;
  const waited = sealedAt && oldestAt ? duration(Date.parse(sealedAt) - Date.parse(oldestAt)) : undefined;
  const took = finishedAt && startedAt ? duration(Date.parse(finishedAt) - Date.parse(startedAt)) : undefined;
  const isDue = nextAttemptAfter !== undefined && Date.parse(nextAttemptAfter) <= now;
  return html`
    ${facts([
      ['Sealed', sealedAt && html`<time-ago at=${sealedAt}></time-ago>, because ${sealedBecause(batch.sealedBy)}`],
      ['Oldest task waited', waited],
      ['First called', startedAt && html`<time-ago at=${startedAt}></time-ago>`],
      ['Last attempt', lastAttempt && html`ended <time-ago at=${lastAttempt.endedAt}></time-ago>`],
      [
        'Next attempt',
        nextAttemptAfter && !finishedAt
          ? isDue
            ? 'due'
            : html`<time-ago at=${nextAttemptAfter}></time-ago>, at the earliest`
          : undefined,
      ],
      [
        'Finished',
        finishedAt && html`<time-ago at=${finishedAt}></time-ago>${took ? `, ${took} after the first call` : ''}`,
      ],
    ])}
    ${lastAttempt ? html`<h2>Why another attempt was needed</h2><pre class="quote" tabindex="0" role="group" aria-label="Why another attempt was needed">${lastAttempt.reason}</pre>` : nothing}`;
};
