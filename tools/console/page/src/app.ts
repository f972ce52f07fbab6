/** The frame around every view: header, navigation, messages and footer. */
import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import type { About } from '../../server/shapes.ts';
import { get } from './base/api.ts';
import { longerWindow } from './base/chart-window.ts';
import { Live } from './base/live.ts';
import { href, parseRoute, type Route } from './base/router.ts';
import type { Dialog, Page, Screen } from './base/screen.ts';
import { shape } from './components/parts.ts';
import { askSend } from './components/send-dialog.ts';
import { footer } from './footer.ts';
import { header } from './header.ts';
import { screenOf } from './screens.ts';

/** Pause before `/console/about` is requested again after a failure, in milliseconds. */
const ASK_AGAIN = 2_000;
/** Redraws the page at this interval, in milliseconds, so that relative times stay correct without new data. */
const DRAW_AGAIN = 5_000;

class GroupageConsole extends LitElement implements Page {
  readonly live = new Live(() => this.redraw());
  about: About | undefined;
  now = Date.now();
  #address = location.hash;
  #route = parseRoute(location.hash);
  #screen: Screen = screenOf(this, this.#route);
  #dialog: Dialog | undefined;
  #said: { readonly text: string; readonly tone: 'ok' | 'bad' } | undefined;
  #isNewAddress = false;

  override createRenderRoot(): this {
    return this;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    addEventListener('hashchange', () => this.#onAddress());
    setInterval(() => this.redraw(), DRAW_AGAIN);
    void this.#ask();
  }

  async #ask(): Promise<void> {
    const reply = await get<About>('/console/about');
    if (reply.ok) this.about = reply.body;
    else setTimeout(() => void this.#ask(), ASK_AGAIN);
    this.redraw();
  }

  #onAddress(): void {
    if (location.hash === this.#address) return;
    this.#isNewAddress = true;
    this.close();
    this.#show();
  }

  #show(): void {
    this.#address = location.hash;
    this.#route = parseRoute(location.hash);
    this.#screen = screenOf(this, this.#route);
    this.redraw();
  }

  redraw(): void {
    this.now = Date.now();
    this.requestUpdate();
  }

  isShown(screen: Screen): boolean {
    return screen === this.#screen;
  }

  go(route: Route): void {
    location.hash = href(route);
  }

  /** Changes the view without moving the focus. */
  replace(route: Route): void {
    history.replaceState(undefined, '', href(route));
    this.#show();
  }

  say(text: string, tone: 'ok' | 'bad'): void {
    this.#said = { text, tone };
    this.redraw();
  }

  open(dialog: Dialog): void {
    this.#dialog = dialog;
    this.redraw();
  }

  shows(dialog: Dialog): boolean {
    return dialog === this.#dialog;
  }

  close(only = this.#dialog): void {
    if (only !== this.#dialog) return;
    this.querySelector('dialog')?.close();
    this.#dialog = undefined;
    this.redraw();
  }

  override render(): TemplateResult {
    return html`
      <a class="skip" href="#main" @click=${(event: Event) => this.#skip(event)}>Skip to the content</a>
      ${header(this, this.#route, () => askSend(this))}
      ${this.#trouble()}
      <main id="main" tabindex="-1">${this.#screen.render()}</main>
      ${footer(this)}
      <div class="said" role="status">${
        this.#said
          ? html`<p class=${this.#said.tone}>${shape(this.#said.tone)}<span>${this.#said.text}</span>
            <button class="plain" aria-label="Dismiss" @click=${() => this.#dismiss()}>×</button></p>`
          : nothing
      }</div>
      ${
        this.#dialog
          ? html`<dialog aria-labelledby="dialog-title" @cancel=${(event: Event) => this.#cancel(event)}>
            <h2 id="dialog-title">${this.#dialog.title}</h2>${this.#dialog.render()}</dialog>`
          : nothing
      }`;
  }

  /** The bar for connection problems. Its element is always present, even without a text, and lies over the page. */
  #trouble(): TemplateResult {
    const { connection, troubles } = this.live;
    const text =
      connection === 'lost'
        ? 'The connection to the console is lost. The page may show old data. It reconnects by itself; if it does not, start the console again.'
        : troubles.length > 0
          ? `Part of this page cannot be updated: ${troubles.join('; ')}. The page tries again by itself.`
          : undefined;
    return html`<div class="trouble" role="status">${text ? html`<p class="text">${shape('warn')}${text}</p>` : nothing}</div>`;
  }

  override updated(_: PropertyValues): void {
    this.live.watch(this.#screen.paths(), longerWindow(this.about));
    document.title = `${this.#screen.title} · Groupage`;
    const dialog = this.querySelector('dialog');
    if (dialog && !dialog.open) dialog.showModal();
    if (!this.#isNewAddress) return;
    this.#isNewAddress = false;
    scrollTo(0, 0);
    this.querySelector<HTMLElement>('h1')?.focus();
  }

  #skip(event: Event): void {
    event.preventDefault();
    this.querySelector<HTMLElement>('main')?.focus();
  }

  #cancel(event: Event): void {
    event.preventDefault();
    this.close();
  }

  #dismiss(): void {
    this.#said = undefined;
    this.redraw();
  }
}

customElements.define('groupage-console', GroupageConsole);
