/**
 * The dialog to redrive tasks or dead letters: first a dry run, then a confirmation, then the redrive with its outcome.
 */
import { html, nothing, type TemplateResult } from 'lit';
import type { Skipped } from '../../../../../src/api/shared/answer-schemas.ts';
import type { Reply } from '../base/api.ts';
import { because, post } from '../base/api.ts';
import { count, plural } from '../base/format.ts';
import type { Dialog, Page } from '../base/screen.ts';
import { buttons, reasonField, reasonIn } from './dialogs.ts';
import { idText, link, problem, shape } from './parts.ts';

/** The redrive as a call of the API. The dialog adds `dryRun` and `cursor` to the body. */
export interface Redrive {
  readonly title: string;
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** The noun that the dialog counts, in the singular, such as `task`. */
  readonly one: string;
  /** A sentence that says what the redrive does. */
  readonly text: string;
  /** Called after the redrive, whatever its outcome. */
  readonly after?: () => void;
}

interface Outcome {
  readonly redriven: number;
  readonly skipped: readonly Skipped[];
}

interface Redriven extends Outcome {
  readonly cursor?: string;
}

type Phase =
  | { readonly is: 'looking' }
  | { readonly is: 'looked'; readonly would: Outcome }
  | { readonly is: 'doing'; readonly done: Outcome }
  | { readonly is: 'done'; readonly done: Outcome }
  /** The user closed the dialog before the redrive was complete. */
  | { readonly is: 'stopped'; readonly done: Outcome }
  | { readonly is: 'refused'; readonly reply: Extract<Reply<never>, { ok: false }>; readonly done: Outcome };

const NOTHING: Outcome = { redriven: 0, skipped: [] };
/** Maximum number of skipped elements that are listed. The dialog shows only the number of the others. */
const SKIPPED_SHOWN = 10;

export const askRedrive = (page: Page, redrive: Redrive): void => {
  const dialog = new RedriveDialog(page, redrive);
  page.open(dialog);
  void dialog.look();
};

class RedriveDialog implements Dialog {
  readonly title: string;
  readonly #page: Page;
  readonly #redrive: Redrive;
  #phase: Phase = { is: 'looking' };
  #reason = '';

  constructor(page: Page, redrive: Redrive) {
    this.#page = page;
    this.#redrive = redrive;
    this.title = redrive.title;
  }

  async look(): Promise<void> {
    await this.#walk(
      true,
      () => ({ is: 'looking' }),
      (would) => ({ is: 'looked', would }),
    );
  }

  #submit(event: SubmitEvent): void {
    event.preventDefault();
    this.#reason = reasonIn(event.target as HTMLFormElement);
    void this.#run();
  }

  async #run(): Promise<void> {
    await this.#walk(
      false,
      (done) => ({ is: 'doing', done }),
      (done) => ({ is: 'done', done }),
    );
    this.#sayWhatCame(this.#phase);
    this.#redrive.after?.();
  }

  #sayWhatCame(phase: Phase): void {
    const { one } = this.#redrive;
    if (phase.is === 'done') this.#page.say(`${plural(phase.done.redriven, one)} sent again`, 'ok');
    if (phase.is === 'stopped')
      this.#page.say(`Stopped: ${plural(phase.done.redriven, one)} sent again, the others are unchanged`, 'ok');
    if (phase.is === 'refused' && !this.#page.shows(this)) this.#page.say(phase.reply.detail, 'bad');
  }

  /** Requests page after page until there are no more pages, or until the user closes the dialog. */
  async #walk(dryRun: boolean, meanwhile: (so: Outcome) => Phase, end: (all: Outcome) => Phase): Promise<void> {
    let all = NOTHING;
    let cursor: string | undefined;
    do {
      this.#become(meanwhile(all));
      const more = { ...(dryRun ? { dryRun } : {}), ...(cursor === undefined ? {} : { cursor }) };
      const reply = await post<Redriven>(because(this.#redrive.path, this.#reason), { ...this.#redrive.body, ...more });
      if (!reply.ok) return this.#become({ is: 'refused', reply, done: dryRun ? NOTHING : all });
      const { redriven, skipped } = reply.body;
      all = { redriven: all.redriven + redriven, skipped: [...all.skipped, ...skipped] };
      cursor = reply.body.cursor;
      if (cursor !== undefined && !this.#page.shows(this))
        return this.#become({ is: 'stopped', done: dryRun ? NOTHING : all });
    } while (cursor !== undefined);
    this.#become(end(all));
  }

  #become(phase: Phase): void {
    this.#phase = phase;
    this.#page.redraw();
  }

  render(): TemplateResult {
    const phase = this.#phase;
    const { text } = this.#redrive;
    return html`
      <form @submit=${(event: SubmitEvent) => this.#submit(event)}>
        <p>${text}</p>
        <div class="outcome" role="status">${this.#outcome()}</div>
        ${isReady(phase) ? reasonField() : nothing}
        ${phase.is === 'refused' ? problem(phase.reply.detail, phase.reply.errors) : nothing}
        ${buttons(this.#page, this.#next(), closingOf(phase))}
      </form>`;
  }

  #outcome(): TemplateResult {
    const phase = this.#phase;
    const { one } = this.#redrive;
    switch (phase.is) {
      case 'looking':
        return html`<p>Counting…</p>`;
      case 'looked':
        return html`<p class="would">${shape('idle')}<span><strong>${plural(phase.would.redriven, one)}</strong> would be sent again${phase.would.skipped.length > 0 ? html`, <strong>${count(phase.would.skipped.length)}</strong> would be skipped` : nothing}. Nothing has been sent yet.</span></p>${skippedOnes(phase.would, one)}`;
      case 'doing':
        return html`<p>Sending: ${count(phase.done.redriven)} so far…</p>`;
      case 'done':
      case 'stopped':
        return html`<p class="would">${shape('ok')}<span><strong>${plural(phase.done.redriven, one)}</strong> ${phase.done.redriven === 1 ? 'was' : 'were'} sent again.</span></p>${skippedOnes(phase.done, one)}`;
      case 'refused':
        return phase.done.redriven > 0
          ? html`<p>${plural(phase.done.redriven, one)} sent again before this error:</p>`
          : html``;
    }
  }

  #next(): unknown {
    const phase = this.#phase;
    if (phase.is === 'looking' || phase.is === 'doing') return html`<button class="primary" disabled>Redrive</button>`;
    if (!isReady(phase)) return nothing;
    return html`<button class="primary">Redrive ${plural(phase.would.redriven, this.#redrive.one)}</button>`;
  }
}

/** Whether the dry run has found something to redrive. */
const isReady = (phase: Phase): phase is Extract<Phase, { is: 'looked' }> =>
  phase.is === 'looked' && phase.would.redriven > 0;

/** The label of the button that closes the dialog. */
const closingOf = ({ is }: Phase): string => {
  if (is === 'doing') return 'Stop';
  return is === 'done' ? 'Close' : 'Cancel';
};

/** @param one the noun for an element. Only tasks have a view. */
const skippedOnes = ({ skipped }: Outcome, one: string): unknown =>
  skipped.length === 0
    ? nothing
    : html`
      <p>Skipped:</p>
      <ul class="skipped">
        ${skipped.slice(0, SKIPPED_SHOWN).map(({ id, reason }) => html`<li>${one === 'task' ? link({ view: 'task', id }, id) : idText(id)} <span class="muted">${reason}</span></li>`)}
      </ul>
      ${skipped.length > SKIPPED_SHOWN ? html`<p>and ${count(skipped.length - SKIPPED_SHOWN)} more</p>` : nothing}`;

/** Redrives the tasks with these ids. */
export const redriveOfTasks = (ids: readonly string[], title: string): Redrive => ({
  title,
  path: '/v1/tasks/redrive',
  body: { ids },
  one: 'task',
  text: 'Each failed task runs again, with the same id and payload: it waits for a new batch, which calls the downstream.',
});

export const redriveOfTarget = (target: string): Redrive => ({
  ...redriveOfTasks([], `Redrive the failed tasks of ${target}`),
  body: { target },
});

const TITLES: Readonly<Record<string, string>> = {
  rejected: 'Send the rejected messages again',
  'given-up': 'Send the given-up events again',
};
const TEXTS: Readonly<Record<string, string>> = {
  rejected:
    'They go back to the register queue, with the ids that their tasks would have had. Messages that would be rejected again stay, and are listed with the reason.',
  'given-up':
    'They go back to the callback queue. An event that is not delivered by its third receive is given up again.',
};

/** Redrives a dead-letter queue, the rejected queue, or the given-up events. */
export const redriveOfDeadLetters = (queue: string): Redrive => ({
  title: TITLES[queue] ?? `Send the dead letters of the ${queue} queue again`,
  path: `/v1/dead-letters/${encodeURIComponent(queue)}/redrive`,
  body: {},
  one: 'message',
  text:
    TEXTS[queue] ??
    'The sweep also does this by itself, with growing delays; this sends them at once. Messages that cannot be read go to the rejected queue.',
});
