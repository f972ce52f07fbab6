/** Dialogs that ask for confirmation before an action. */
import { html, nothing, type TemplateResult } from 'lit';
import type { Reply } from '../base/api.ts';
import type { Dialog, Page } from '../base/screen.ts';
import { problem } from './parts.ts';

interface Action {
  readonly title: string;
  /** A sentence that says what the action does. */
  readonly text: unknown;
  readonly button: string;
  readonly run: (reason: string) => Promise<Reply<unknown>>;
  /** The message that is shown after success. */
  readonly done: string | ((body: unknown) => string);
  /** Who sees the reason. @default - the audit trail shows it */
  readonly reasonIsSeen?: string;
}

/** The longest reason that the API accepts, in characters. */
const REASON_MAX = 200;

/** Asks for confirmation, performs the action, and shows its outcome. */
export const ask = (page: Page, action: Action): void => page.open(new AskDialog(page, action));

class AskDialog implements Dialog {
  readonly title: string;
  readonly #page: Page;
  readonly #action: Action;
  #refused: TemplateResult | undefined;
  #isBusy = false;

  constructor(page: Page, action: Action) {
    this.#page = page;
    this.#action = action;
    this.title = action.title;
  }

  render(): TemplateResult {
    const { text, button, reasonIsSeen } = this.#action;
    return html`
      <form @submit=${(event: SubmitEvent) => this.#submit(event)}>
        <p>${text}</p>
        ${reasonField(reasonIsSeen)}
        ${this.#refused ?? nothing}
        ${buttons(this.#page, html`<button class="primary" ?disabled=${this.#isBusy}>${button}</button>`)}
      </form>`;
  }

  async #submit(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    const reason = reasonIn(event.target as HTMLFormElement);
    const { done } = this.#action;
    this.#isBusy = true;
    this.#page.redraw();
    const reply = await this.#action.run(reason);
    this.#isBusy = false;
    if (reply.ok) {
      this.#page.close(this);
      this.#page.say(typeof done === 'string' ? done : done(reply.body), 'ok');
    } else if (this.#page.shows(this)) this.#refused = problem(reply.detail, reply.errors);
    else this.#page.say(`${this.title}: ${reply.detail}`, 'bad');
    this.#page.redraw();
  }
}

/** The field for the reason of an action. */
export const reasonField = (isSeen = 'The audit trail shows it.'): TemplateResult => html`
  <label>Reason <span class="muted">Optional. ${isSeen}</span>
    <input name="reason" maxlength=${REASON_MAX} autocomplete="off" autofocus /></label>`;

/** The reason in a form. Empty if the user gave none. */
export const reasonIn = (form: HTMLFormElement): string => String(new FormData(form).get('reason') ?? '').trim();

export const buttons = (page: Page, main: unknown, cancel = 'Cancel'): TemplateResult => html`
  <div class="buttons"><button type="button" @click=${() => page.close()}>${cancel}</button>${main}</div>`;
