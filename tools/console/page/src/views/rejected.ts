/**
 * Rejected messages, or given-up events: reasons, bodies, and buttons to send them again or to delete them.
 *
 * SQS hides a message from all other readers while it is read. So the list is not part of the rounds that keep other
 * views up to date: the page reads it when the view is opened, after an action, and on request.
 */
import { html, nothing, type TemplateResult } from 'lit';
import type { LetterMessage, LetterMessages, Queues } from '../../../../../src/api/queues/responses.ts';
import type { Skipped } from '../../../../../src/api/shared/answer-schemas.ts';
import { because, get, PATHS, post, type Reply } from '../base/api.ts';
import { count, plural } from '../base/format.ts';
import type { Page, Screen } from '../base/screen.ts';
import { ask } from '../components/dialogs.ts';
import { heading } from '../components/heading.ts';
import { jsonText } from '../components/json-text.ts';
import { breakable, command, empty, facts, idText, problem, shape, skeleton } from '../components/parts.ts';
import { askRedrive, redriveOfDeadLetters } from '../components/redrive-dialog.ts';

type RejectedQueue = 'rejected' | 'given-up';

const NAMES: Readonly<Record<RejectedQueue, string>> = { rejected: 'Rejected', 'given-up': 'Given-up events' };
const LEADS: Readonly<Record<RejectedQueue, string>> = {
  rejected:
    'Groupage rejected these messages, so their tasks are not registered. Fix the cause and send them again, or discard them. SQS deletes them after 14 days.',
  'given-up':
    'No destination accepted these events for three days. Fix the destination and send them again, or discard them. SQS deletes them after 14 days.',
};
const EMPTY: Readonly<Record<RejectedQueue, readonly [title: string, next: string]>> = {
  rejected: ['No rejected message', 'A message that Groupage rejects is listed here with the reasons.'],
  'given-up': ['No given-up event', 'An event that no destination accepts for three days is listed here.'],
};
const ONE: Readonly<Record<RejectedQueue, string>> = { rejected: 'message', 'given-up': 'event' };
const COMMANDS: Readonly<Record<RejectedQueue, readonly string[]>> = {
  rejected: ['rejected'],
  'given-up': ['rejected', '--given-up'],
};

export const rejectedScreen = (page: Page, queue: RejectedQueue): Screen => {
  const screen = new RejectedScreen(page, queue);
  void screen.read();
  return screen;
};

class RejectedScreen implements Screen {
  readonly title: string;
  readonly #page: Page;
  readonly #queue: RejectedQueue;
  #reply: Reply<LetterMessages> | undefined;
  #readAt = new Date().toISOString();
  #isReading = false;

  constructor(page: Page, queue: RejectedQueue) {
    this.#page = page;
    this.#queue = queue;
    this.title = NAMES[queue];
  }

  paths(): readonly string[] {
    return [PATHS.queues];
  }

  /** Reads the list. A reading that is under way is enough. */
  async read(): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    this.#page.redraw();
    this.#reply = await get<LetterMessages>(PATHS.letters(this.#queue));
    this.#readAt = new Date().toISOString();
    this.#isReading = false;
    this.#page.redraw();
  }

  render(): TemplateResult {
    const queue = this.#queue;
    const reply = this.#reply;
    const messages = reply?.ok ? reply.body.messages : undefined;
    return html`
      ${heading({
        name: NAMES[queue],
        under: [{ route: { view: 'failures' }, text: 'Failures' }],
        actions: messages && messages.length > 0 ? this.#actions() : nothing,
      })}
      <p class="lead">${LEADS[queue]}</p>
      <p class="listed" role="status">${this.#state()}
        <button class="small" ?disabled=${this.#isReading} @click=${() => void this.read()}>Read again</button></p>
      ${reply && !reply.ok ? problem(reply.detail, reply.errors) : this.#list(messages)}
      ${command(...COMMANDS[queue])}`;
  }

  #actions(): TemplateResult {
    return html`<button @click=${() => this.#redriveAll()}>Redrive all…</button>
      <button @click=${() => this.#discardAll()}>Discard all…</button>`;
  }

  #state(): unknown {
    const reply = this.#reply;
    if (this.#isReading || !reply) return 'Reading…';
    if (!reply.ok) return 'The list could not be read.';
    const { messages, note } = reply.body;
    const shown = html`${plural(messages.length, ONE[this.#queue])}, read <time-ago at=${this.#readAt}></time-ago>`;
    const now = this.#countNow();
    const differs = now !== undefined && note === undefined && now !== messages.length;
    return html`${shown}.${note === undefined ? nothing : html` SQS counts ${note}.`}${differs ? html` The queue has about ${count(now)} now.` : nothing}`;
  }

  #countNow(): number | undefined {
    const queues = this.#page.live.body<Queues>(PATHS.queues);
    return this.#queue === 'rejected' ? queues?.rejected : queues?.givenUp;
  }

  #list(messages: readonly LetterMessage[] | undefined): TemplateResult {
    if (messages?.length === 0) return empty(...EMPTY[this.#queue]);
    return html`<ul class="causes letters">${
      messages ? messages.map((each) => this.#message(each)) : html`<li class="cause">${skeleton('l')}</li>`
    }</ul>`;
  }

  #message(message: LetterMessage): TemplateResult {
    const { id, operation, taskId, destination, sender, messageId, since, wouldStay } = message;
    const of = html`<span class="unseen"> message ${id}</span>`;
    return html`<li class="cause">
      <div class="top">
        <h2 class="why">${shape('bad')} ${reasonText(message)}</h2>
        <div class="row">
          ${wouldStay === undefined ? html`<button class="small" @click=${() => this.#redrive(message)}>Redrive…${of}</button>` : nothing}
          <button class="small" @click=${() => this.#discard(message)}>Discard…${of}</button>
        </div>
      </div>
      ${moreReasons(message)}
      ${facts([
        [this.#queue === 'rejected' ? 'Rejected' : 'Given up', html`<time-ago at=${since}></time-ago>`],
        ['Operation', operation && breakable(operation)],
        ['Task id', taskId && idText(taskId)],
        ['Destination', destination && breakable(destination)],
        ['Message id', idText(messageId ?? id)],
        ['Sender', sender && idText(sender)],
      ])}
      ${wouldStay === undefined ? nothing : html`<p class="muted">A redrive would leave it here: ${wouldStay}</p>`}
      <details><summary>Body<span class="unseen"> of message ${id}</span></summary>${bodyText(message)}</details>
    </li>`;
  }

  #redrive(message: LetterMessage): void {
    ask(this.#page, {
      title: `Send this ${ONE[this.#queue]} again`,
      text: html`${
        this.#queue === 'rejected'
          ? 'It goes back to the register queue, with the id that its task would have had. If the register function finds another problem, such as a used id, it rejects the message again. The message then appears here as a new one.'
          : 'It goes back to the callback queue.'
      }`,
      button: 'Redrive',
      run: (reason) => this.#handleOne('redrive', message, reason),
      done: `The ${ONE[this.#queue]} was sent again`,
    });
  }

  #discard(message: LetterMessage): void {
    ask(this.#page, {
      title: `Discard this ${ONE[this.#queue]}`,
      text: html`It is deleted for good, and cannot be restored. ${this.#queue === 'rejected' ? 'Its task is never registered.' : 'Its destination never gets it.'}`,
      button: 'Discard',
      run: (reason) => this.#handleOne('discard', message, reason),
      done: `The ${ONE[this.#queue]} was discarded`,
    });
  }

  async #handleOne(what: 'redrive' | 'discard', { id }: LetterMessage, reason: string): Promise<Reply<unknown>> {
    const reply = await post<Skips>(because(`${this.#path()}/${what}`, reason), { ids: [id] });
    void this.read();
    const [skipped] = reply.ok ? reply.body.skipped : [];
    return skipped ? { ok: false, status: 409, detail: skipped.reason, errors: [] } : reply;
  }

  #redriveAll(): void {
    askRedrive(this.#page, { ...redriveOfDeadLetters(this.#queue), after: () => void this.read() });
  }

  #discardAll(): void {
    ask(this.#page, {
      title: `Discard all ${ONE[this.#queue]}s of this queue`,
      text: html`All ${ONE[this.#queue]}s that are in the queue now are deleted for good, also those that this list lacks. They cannot be restored.`,
      button: 'Discard all',
      run: (reason) => this.#discardEach(reason),
      done: (body) => `${plural((body as Discarded).discarded, ONE[this.#queue])} discarded`,
    });
  }

  /** Repeats the request until it is complete, because one request has a time limit. */
  async #discardEach(reason: string): Promise<Reply<Discarded>> {
    let discarded = 0;
    let cursor: string | undefined;
    for (;;) {
      const more = cursor === undefined ? {} : { cursor };
      const reply = await post<Discarded>(because(`${this.#path()}/discard`, reason), { all: true, ...more });
      if (!reply.ok) return reply;
      discarded += reply.body.discarded;
      cursor = reply.body.cursor;
      if (cursor !== undefined && reply.body.discarded > 0) continue;
      void this.read();
      return { ...reply, body: { ...reply.body, discarded } };
    }
  }

  #path(): string {
    return `/v1/dead-letters/${this.#queue}`;
  }
}

interface Skips {
  readonly skipped: readonly Skipped[];
}

interface Discarded extends Skips {
  readonly discarded: number;
  readonly cursor?: string;
}

const described = ({ path, reason }: LetterMessage['reasons'][number]): unknown =>
  html`${path === '' ? nothing : html`<code>${breakable(path)}</code> `}${reason}`;

const reasonText = ({ reasons: [first], destination }: LetterMessage): unknown =>
  first ? described(first) : `not delivered${destination === undefined ? '' : ` to ${destination}`}`;

const moreReasons = ({ reasons, reasonsInAll = reasons.length }: LetterMessage): unknown =>
  reasons.length < 2
    ? nothing
    : html`<ul class="more">${reasons.slice(1).map((each) => html`<li>${described(each)}</li>`)}
      ${reasonsInAll > reasons.length ? html`<li>and ${count(reasonsInAll - reasons.length)} more</li>` : nothing}</ul>`;

/** The body as text: only valid JSON is laid out. */
const bodyText = ({ id, body, bodyIsCut, bodyBytes }: LetterMessage): TemplateResult => html`
  ${
    !bodyIsCut && isJson(body)
      ? jsonText(`body of message ${id}`, body)
      : html`<pre class="quote" tabindex="0" role="group" aria-label=${`body of message ${id}`}>${body}</pre>`
  }
  ${bodyIsCut ? html`<p class="muted">This is the beginning${bodyBytes === undefined ? '' : ` of ${count(bodyBytes)} bytes`}.</p>` : nothing}`;

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch (cause) {
    if (cause instanceof SyntaxError) return false;
    throw cause;
  }
};
