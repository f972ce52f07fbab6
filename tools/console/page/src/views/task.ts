/** A task: its steps so far, its data, and buttons to cancel or redrive it. */
import { html, nothing, type TemplateResult } from 'lit';
import type { Batch } from '../../../../../src/api/batches/responses.ts';
import type { Task } from '../../../../../src/api/tasks/responses.ts';
import { rawMembers } from '../../../../../src/util/json-text.ts';
import { shownOptions } from '../../../../task-options.ts';
import { because, get, PATHS, remove } from '../base/api.ts';
import { bytes, clock, count } from '../base/format.ts';
import { href } from '../base/router.ts';
import type { Page, Screen } from '../base/screen.ts';
import { ask } from '../components/dialogs.ts';
import { belonging, heading } from '../components/heading.ts';
import { jsonText } from '../components/json-text.ts';
import { command, empty, facts, isUnknown, link, refused, shape, skeleton } from '../components/parts.ts';
import { askRedrive, redriveOfTasks } from '../components/redrive-dialog.ts';
import { type Step, timelineOf } from '../model/timeline.ts';
import { taskState } from '../model/words.ts';

/** @param isNew whether the task was sent just now. Such a task may not be registered yet. */
export const taskScreen = (page: Page, id: string, isNew: boolean): Screen => new TaskScreen(page, id, isNew);

class TaskScreen implements Screen {
  readonly title: string;
  readonly #page: Page;
  readonly #id: string;
  readonly #path: string;
  readonly #isNew: boolean;
  /** The payload and the result, verbatim. The live answer does not contain them verbatim, because it was parsed. */
  #texts: ReadonlyMap<string, string> = new Map();
  /** The state of the task at the time when the texts were read. */
  #textsOf = '';

  constructor(page: Page, id: string, isNew: boolean) {
    this.title = `Task ${id}`;
    this.#page = page;
    this.#id = id;
    this.#path = PATHS.task(id);
    this.#isNew = isNew;
  }

  paths(): readonly string[] {
    const batchId = this.#task()?.batchId;
    return batchId === undefined ? [this.#path] : [this.#path, PATHS.batch(batchId)];
  }

  #task(): Task | undefined {
    return this.#page.live.body<Task>(this.#path);
  }

  render(): TemplateResult {
    const task = this.#task();
    if (task) void this.#readTexts(task);
    const batch = task?.batchId === undefined ? undefined : this.#page.live.body<Batch>(PATHS.batch(task.batchId));
    return html`
      ${heading({
        kind: 'Task',
        name: this.#id,
        isId: true,
        state: task && taskState(task.status),
        under: belonging(task),
        actions: task ? this.#actions(task) : nothing,
      })}
      ${isUnknown(this.#page, this.#path) ? this.#unknown() : this.#life(task, batch)}`;
  }

  #actions({ status }: Task): unknown {
    if (status === 'failed')
      return html`<button class="primary" @click=${() => askRedrive(this.#page, redriveOfTasks([this.#id], 'Redrive this task'))}>Redrive…</button>`;
    return status === 'created' ? html`<button @click=${() => this.#cancel()}>Cancel…</button>` : nothing;
  }

  #cancel(): void {
    ask(this.#page, {
      title: 'Cancel this task',
      text: 'The task fails with the code "cancelled", unless a batch has claimed it by now. You can redrive it later.',
      button: 'Cancel the task',
      run: (reason) => remove(because(this.#path, reason)),
      done: 'The task is cancelled',
    });
  }

  #life(task: Task | undefined, batch: Batch | undefined): TemplateResult {
    const { now } = this.#page;
    const steps = task && timelineOf(task, batch, now);
    return html`
      <div class="halves">
        <section aria-labelledby="life-title">
          <h2 id="life-title">Steps</h2>
          <ol class="timeline" aria-live="polite">${steps ? steps.map((each) => step(each, now)) : waiting()}</ol>
          ${task ? command(...commandFor(task)) : nothing}
        </section>
        <section aria-labelledby="data-title">
          <h2 id="data-title">Payload</h2>
          ${this.#text('payload')}
          ${task?.status === 'succeeded' ? this.#result(task) : nothing}
          ${task ? more(task) : nothing}
        </section>
      </div>`;
  }

  #text(name: 'payload' | 'result'): TemplateResult {
    const text = this.#texts.get(name);
    return text === undefined ? html`<div class="json"><pre>${skeleton('l')}</pre></div>` : jsonText(name, text);
  }

  #result({ resultOmitted }: Task): TemplateResult {
    if (resultOmitted)
      return html`<h2>Result</h2><p class="muted">The result had ${bytes(resultOmitted.bytes)}, which is too large to store.</p>`;
    return this.#texts.has('result')
      ? html`<h2>Result</h2>${this.#text('result')}`
      : html`<h2>Result</h2><p class="muted">The downstream returned no result.</p>`;
  }

  /** Reads the payload and the result, once for each state of the task. */
  async #readTexts({ status, run = 1 }: Task): Promise<void> {
    const state = `${status} ${run}`;
    if (state === this.#textsOf) return;
    this.#textsOf = state;
    const reply = await get(this.#path);
    if (!reply.ok) return;
    this.#texts = rawMembers(reply.text);
    this.#page.redraw();
  }

  #unknown(): TemplateResult {
    if (this.#isNew)
      return empty(
        'The task is being registered',
        'It was sent a moment ago. This page shows it as soon as it is registered; you do not need to reload.',
      );
    return html`
      ${refused(this.#page, this.#path) ?? nothing}
      <div class="empty">
        <p class="title">No task has this id. Possible reasons:</p>
        <ol>
          <li>The message is still in the <strong>register queue</strong>. That takes seconds, and this page then shows the task. See <a href=${href({ view: 'overview' })}>the flow</a>.</li>
          <li>The message was rejected, and is in the <strong>rejected queue</strong> with the reasons. See <a href=${href({ view: 'failures' })}>the failures</a>.</li>
          <li>The task ended long ago and was <strong>deleted</strong>: tasks are kept for <code>keepTasks</code> after they end.</li>
        </ol>
        <p>Or is it the id of a <a href=${href({ view: 'fan-out', id: this.#id })}>fan-out</a>, a <a href=${href({ view: 'list', id: this.#id })}>list</a>, or a <a href=${href({ view: 'fleet', id: this.#id })}>fleet</a>?</p>
      </div>`;
  }
}

const step = ({ at, tone, title, text, quote, link: to }: Step, now: number): TemplateResult => html`
  <li class=${tone}>
    ${shape(tone)}
    <div>
      <p><strong>${title}</strong> ${at === undefined ? (tone === 'busy' ? html`<span class="muted">now</span>` : nothing) : html`<time datetime=${new Date(at).toISOString()}>${clock(at, now)}</time>`}</p>
      ${text ? html`<p>${text}</p>` : nothing}
      ${to ? html`<p>${link(to.route, to.text, 'id')}</p>` : nothing}
      ${quote ? html`<pre class="quote" tabindex="0" role="group" aria-label="Answer of the downstream">${quote}</pre>` : nothing}
    </div>
  </li>`;

const waiting = (): TemplateResult[] =>
  Array.from(
    { length: 3 },
    () => html`<li class="idle">${shape('idle')}<div><p>${skeleton('m')}</p><p>${skeleton('l')}</p></div></li>`,
  );

const more = (task: Task): TemplateResult =>
  facts([
    ['Run', task.run === undefined || task.run === 1 ? undefined : count(task.run)],
    ...shownOptions(task, 'page').map(
      ({ field, name, text }) =>
        [name, field === 'fanOutItem' ? link({ view: 'fan-out', id: text.split(':')[0] ?? '' }, text) : text] as const,
    ),
  ]);

/** The command for the user's likely next step, as words for a shell. */
const commandFor = ({ id, status }: Task): readonly string[] => {
  if (status === 'failed') return ['redrive', id];
  return status === 'succeeded' ? ['status', id] : ['status', id, '--wait'];
};
