/** The dialog to send a test task. It then opens the view of the task. */
import { html, nothing, type TemplateResult } from 'lit';
import type { OperationDetails } from '../../../../../src/api/operations/responses.ts';
import type { TargetPage } from '../../../../../src/api/targets/responses.ts';
import { get, PATHS, post } from '../base/api.ts';
import type { Dialog, Page } from '../base/screen.ts';
import { examplePayload } from '../model/example-payload.ts';
import { buttons } from './dialogs.ts';
import { problem } from './parts.ts';

/** The prefix of the browser's storage keys. Each key stores the last payload of one operation. */
const LAST = 'groupage.payload.';
/**
 * Maximum length of a payload that is stored, in UTF-16 units. Longer payloads are not stored, because a browser stores
 * about 5 MB in total and refuses more.
 */
const LAST_MAX = 16 * 1_024;

export const askSend = (page: Page, operation = page.about?.operations[0] ?? ''): void => {
  const dialog = new SendDialog(page, operation);
  page.open(dialog);
  void dialog.suggest();
};

class SendDialog implements Dialog {
  readonly title = 'Send a test task';
  readonly #page: Page;
  #operation: string;
  #payload = '{}';
  #isTouched = false;
  #refused: TemplateResult | undefined;
  #isBusy = false;

  constructor(page: Page, operation: string) {
    this.#page = page;
    this.#operation = operation;
  }

  /** Suggests the last payload of the operation. If there is none, suggests an example. */
  async suggest(): Promise<void> {
    const operation = this.#operation;
    const last = localStorage.getItem(`${LAST}${operation}`);
    const suggested = last ?? (await suggestionFor(operation));
    if (this.#isTouched || operation !== this.#operation) return;
    this.#payload = suggested;
    this.#page.redraw();
  }

  render(): TemplateResult {
    const operations = this.#page.about?.operations ?? [];
    return html`
      <form @submit=${(event: SubmitEvent) => this.#submit(event)}>
        <label>Operation
          <select name="operation" @change=${(event: Event) => this.#choose((event.target as HTMLSelectElement).value)}>
            ${operations.map((each) => html`<option ?selected=${each === this.#operation}>${each}</option>`)}
          </select>
        </label>
        <label>Payload <span class="muted">A JSON object. It is stored and sent exactly as typed.</span>
          <textarea name="payload" rows="8" spellcheck="false" autocomplete="off" .value=${this.#payload}
            @input=${(event: Event) => this.#type((event.target as HTMLTextAreaElement).value)}></textarea>
        </label>
        <div class="outcome">${this.#refused ?? this.#hint()}</div>
        ${buttons(this.#page, html`<button class="primary" ?disabled=${this.#isBusy}>Send the task</button>`)}
      </form>`;
  }

  #hint(): TemplateResult {
    const wrong = whatIsWrong(this.#payload);
    return wrong === undefined
      ? html`<p class="muted">The next page shows the task wait, enter a batch and get its result.</p>`
      : html`<p class="muted">Not JSON yet: ${wrong}</p>`;
  }

  #choose(operation: string): void {
    this.#operation = operation;
    this.#isTouched = false;
    this.#refused = undefined;
    void this.suggest();
  }

  #type(text: string): void {
    this.#payload = text;
    this.#isTouched = true;
    this.#refused = undefined;
    this.#page.redraw();
  }

  async #submit(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    const wrong = whatIsWrong(this.#payload);
    if (wrong !== undefined) {
      this.#refused = problem('the payload is not JSON', [{ path: 'payload', reason: wrong }]);
      return this.#page.redraw();
    }
    this.#isBusy = true;
    this.#page.redraw();
    // Insert the payload verbatim, because parsing and printing it could change its numbers.
    const body = `{"operation":${JSON.stringify(this.#operation)},"payload":${this.#payload}}`;
    const reply = await post<{ readonly ids: readonly string[] }>('/v1/tasks', body);
    this.#isBusy = false;
    const id = reply.ok ? reply.body.ids[0] : undefined;
    const isShown = this.#page.shows(this);
    if (id !== undefined) {
      if (this.#payload.length <= LAST_MAX) localStorage.setItem(`${LAST}${this.#operation}`, this.#payload);
      this.#page.close(this);
      this.#page.say('The task was sent', 'ok');
      if (isShown) this.#page.go({ view: 'task', id, isNew: true });
    } else if (!reply.ok && isShown) this.#refused = problem(reply.detail, reply.errors);
    else if (!reply.ok) this.#page.say(`${this.title}: ${reply.detail}`, 'bad');
    this.#page.redraw();
  }
}

/**
 * An example payload with the values of an existing Target. If the operation has no Target, the payload has each key
 * that the configuration groups by.
 */
const suggestionFor = async (operation: string): Promise<string> => {
  const [targets, details] = await Promise.all([
    get<TargetPage>(PATHS.targets({ operation, limit: 1 })),
    get<OperationDetails>(PATHS.operation(operation)),
  ]);
  const target = targets.ok ? targets.body.targets[0]?.target : undefined;
  return examplePayload(operation, target, (details.ok && details.body.groupedBy) || []);
};

/** The reason why a text is not JSON. Undefined if the text is JSON. */
const whatIsWrong = (text: string): string | undefined => {
  try {
    JSON.parse(text);
    return undefined;
  } catch (cause) {
    if (cause instanceof SyntaxError) return cause.message;
    throw cause;
  }
};

/** The button that opens the dialog. */
export const sendButton = (page: Page, operation?: string): TemplateResult =>
  html`<button class="primary" ?disabled=${page.about === undefined} @click=${() => askSend(page, operation)}>Send a test task</button>`;

export const sendHint = (page: Page, operation?: string): unknown =>
  html`Send one: ${sendButton(page, operation)}${
    page.about?.source.kind === 'local'
      ? html` or, in a shell, <code>npm run groupage -- send ${operation ?? page.about.operations[0] ?? 'OPERATION'} '{…}'</code>`
      : nothing
  }`;
