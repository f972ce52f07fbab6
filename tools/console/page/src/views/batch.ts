/** A batch: why it was sealed, the outcome of its calls, and its tasks. */
import { html, nothing, type TemplateResult } from 'lit';
import type { Batch } from '../../../../../src/api/batches/responses.ts';
import type { Task, TaskPage } from '../../../../../src/api/tasks/responses.ts';
import { get, PATHS } from '../base/api.ts';
import { count, duration, percent, plural } from '../base/format.ts';
import type { Page, Screen } from '../base/screen.ts';
import { belonging, heading } from '../components/heading.ts';
import { command, empty, facts, figure, fill, isUnknown, link, skeleton } from '../components/parts.ts';
import { taskTable } from '../components/task-table.ts';
import { waterfallOf } from '../components/waterfall.ts';
import { numbersOf } from '../model/calls.ts';
import { batchStateOf, sealedBecause } from '../model/words.ts';

/** The API answers at most so many calls, the last ones. */
const CALLS_KEPT = 20;
/** Number of tasks whose outcomes are read. */
const MEMBERS = 100;

export const batchScreen = (page: Page, id: string): Screen => new BatchScreen(page, id);

class BatchScreen implements Screen {
  readonly title: string;
  readonly #page: Page;
  readonly #id: string;
  readonly #path: string;
  /** The tasks with their outcomes, read once for each state of the batch. */
  #tasks: readonly Task[] | undefined;
  #tasksOf = '';

  constructor(page: Page, id: string) {
    this.title = `Batch ${id}`;
    this.#page = page;
    this.#id = id;
    this.#path = PATHS.batch(id);
  }

  paths(): readonly string[] {
    return [this.#path];
  }

  render(): TemplateResult {
    const batch = this.#page.live.body<Batch>(this.#path);
    if (batch) void this.#readTasks(batch);
    return html`
      ${heading({
        kind: 'Batch',
        name: this.#id,
        isId: true,
        state: batch && batchStateOf(batch),
        under: belonging(batch),
      })}
      ${
        isUnknown(this.#page, this.#path)
          ? empty(
              'This batch does not exist',
              'It may have expired: batches are kept as long as their tasks. A batch id looks like TARGET#2#5.',
            )
          : this.#about(batch)
      }`;
  }

  #about(batch: Batch | undefined): TemplateResult {
    const { now } = this.#page;
    return html`
      <div class="figures">
        ${figure('Tasks', batch ? count(batch.size) : skeleton('s'), batch ? fill(batch.fill) : nothing)}
        ${figure('Succeeded', batch ? count(batch.counts?.succeeded ?? 0) : skeleton('s'), batch ? percent((batch.counts?.succeeded ?? 0) / Math.max(1, batch.size)) : nothing)}
        ${figure('Failed', batch ? count(batch.counts?.failed ?? 0) : skeleton('s'), batch?.pending ? `${plural(batch.pending, 'job')} still to report` : nothing)}
        ${figure('Attempt', batch ? count(batch.attempt) : skeleton('s'), batch?.attempts === undefined ? nothing : `${count(batch.attempts)} counted ${batch.attempts === 1 ? 'attempt' : 'attempts'}`)}
      </div>
      ${batch ? story(batch, now) : nothing}
      ${batch ? calls(batch, now) : nothing}
      <section aria-labelledby="members-title">
        <h2 id="members-title">Tasks, in the order in which they waited</h2>
        ${taskTable('Tasks of this batch', this.#tasks, empty('This batch has no tasks', 'All of its candidates ended before the batch was sealed.'), 'outcome')}
        ${
          batch?.members && batch.size > MEMBERS
            ? html`<p class="muted">The first ${count(MEMBERS)} of ${count(batch.size)} are shown.</p>
              <details><summary>The ids of all ${count(batch.size)} tasks</summary>
                <ol class="members">${batch.members.map((id) => html`<li>${link({ view: 'task', id }, id, 'id')}</li>`)}</ol></details>`
            : nothing
        }
      </section>
      ${batch ? command('tasks', '--batch', batch.id) : nothing}`;
  }

  /** Reads the outcomes again only when the batch has changed, because each read costs a unit for each task. */
  async #readTasks({ status, attempt, counts, pending }: Batch): Promise<void> {
    const state = JSON.stringify([status, attempt, counts, pending]);
    if (state === this.#tasksOf) return;
    this.#tasksOf = state;
    const reply = await get<TaskPage>(PATHS.membersOf(this.#id, MEMBERS));
    if (!reply.ok) return this.#page.say(`The tasks of this batch could not be read: ${reply.detail}`, 'bad');
    this.#tasks = reply.body.tasks;
    this.#page.redraw();
  }
}

const calls = (batch: Batch, now: number): TemplateResult => html`
  <section aria-labelledby="calls-title">
    <h2 id="calls-title">Calls, oldest first</h2>
    ${
      batch.calls && batch.calls.length > 0
        ? html`${waterfallOf(batch.calls, batch.size, now)}
          ${batch.calls.length >= CALLS_KEPT ? html`<p class="muted">The last ${count(CALLS_KEPT)} calls are kept. Earlier ones are in the log of the batch handler.</p>` : nothing}`
        : empty(
            'No call is recorded',
            batch.startedAt
              ? 'The calls of an attempt are recorded when it ends. If its function died, they are only in its log.'
              : 'The first attempt has not started.',
          )
    }
  </section>`;

const story = (batch: Batch, now: number): TemplateResult => {
  const { oldestAt, sealedAt, startedAt, finishedAt, nextAttemptAfter, lastAttempt } = batch;
  const waited = sealedAt && oldestAt ? duration(Date.parse(sealedAt) - Date.parse(oldestAt)) : undefined;
  const took = finishedAt && startedAt ? duration(Date.parse(finishedAt) - Date.parse(startedAt)) : undefined;
  const { leader, round } = numbersOf(batch.id);
  const isDue = nextAttemptAfter !== undefined && Date.parse(nextAttemptAfter) <= now;
  return html`
    ${facts([
      [
        'Its id',
        html`the Target, then ${leader}: the number of the leader that opened it, then ${round}: its number among all batches of the Target`,
      ],
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
