/**
 * The search in the header: a combobox whose list has the best hits by kind. The server searches the names that it
 * knows, so further letters cost no read units.
 */
import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import type { Found, Hit } from '../../../server/shapes.ts';
import { get, searchPath } from '../base/api.ts';
import type { Page } from '../base/screen.ts';
import { groupName, routeOfEnter, routeOfHit, searchedWords, summaryOf, totalOfGroup } from '../model/search.ts';
import { breakable } from './parts.ts';

/** How long after the last keystroke the search starts, in milliseconds. */
const TYPED = 200;
/** Pause before the search is repeated while the server still reads names, in milliseconds. */
const AGAIN = 1_000;

class SearchField extends LitElement {
  static override readonly properties = {
    page: { attribute: false },
    found: { state: true },
    active: { state: true },
    isOpen: { state: true },
  };
  declare page: Page | undefined;
  /** The suggestions for the typed text. */
  declare found: Found | undefined;
  /** The number of the chosen suggestion. Undefined if the user has chosen none. */
  declare active: number | undefined;
  declare isOpen: boolean;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #onKeyAnywhere = (event: KeyboardEvent): void => this.#focusBySlash(event);

  constructor() {
    super();
    this.isOpen = false;
  }

  override createRenderRoot(): this {
    return this;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    document.addEventListener('keydown', this.#onKeyAnywhere);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    document.removeEventListener('keydown', this.#onKeyAnywhere);
    clearTimeout(this.#timer);
  }

  override render(): TemplateResult {
    const isExpanded = this.isOpen && this.#hits.length > 0;
    return html`
      <form role="search" @submit=${(event: SubmitEvent) => this.#submit(event)}>
        <div class="field">
          <input type="text" name="q" role="combobox" aria-label="Search" aria-keyshortcuts="/" placeholder="Name, task id or batch id"
            aria-autocomplete="list" aria-controls="suggestions" aria-expanded=${isExpanded ? 'true' : 'false'}
            aria-activedescendant=${this.active === undefined || !isExpanded ? nothing : `suggestion-${this.active}`}
            autocomplete="off" autocapitalize="off" spellcheck="false" enterkeyhint="search"
            @input=${() => this.#onInput()} @focus=${() => this.#onInput()} @blur=${() => this.#shut()} @keydown=${(event: KeyboardEvent) => this.#onKey(event)} />
          <kbd aria-hidden="true">/</kbd>
        </div>
        <button>Find</button>
      </form>
      <div class="suggestions" ?hidden=${!this.isOpen || !this.found} @pointerdown=${(event: Event) => event.preventDefault()}>
        <div id="suggestions" role="listbox" aria-label="Suggestions">${this.found && isExpanded ? this.#groups(this.found) : nothing}</div>
        ${this.found ? html`<p class="muted">${this.found.groups.length === 0 ? html`<strong>${summaryOf(this.found)}.</strong> ` : nothing}${searchedWords(this.found, Date.now())} Enter shows all results.</p>` : nothing}
      </div>
      <span class="unseen" role="status">${this.isOpen && this.found ? summaryOf(this.found) : ''}</span>`;
  }

  #groups(found: Found): TemplateResult[] {
    let next = 0;
    return found.groups.map((group) => {
      const first = next;
      next += group.hits.length;
      return html`<div role="group" aria-label=${groupName(group.kind)}>
        <p class="kind" aria-hidden="true">${groupName(group.kind)}<span>${group.total > group.hits.length ? totalOfGroup(found, group) : ''}</span></p>
        ${group.hits.map((hit, index) => this.#option(hit, first + index))}
      </div>`;
    });
  }

  #option(hit: Hit, index: number): TemplateResult {
    return html`<div role="option" id=${`suggestion-${index}`} aria-selected=${index === this.active ? 'true' : 'false'} @click=${() => this.#goTo(hit)}>
      <span class="id">${breakable(hit.id)}</span>${hit.about === undefined ? nothing : html` <span class="muted">${hit.about}</span>`}</div>`;
  }

  override updated(_: PropertyValues): void {
    if (this.active !== undefined)
      this.querySelector(`#suggestion-${this.active}`)?.scrollIntoView({ block: 'nearest' });
  }

  get #hits(): readonly Hit[] {
    return this.found?.groups.flatMap(({ hits }) => hits) ?? [];
  }

  get #input(): HTMLInputElement | null {
    return this.querySelector('input');
  }

  get #text(): string {
    return (this.#input?.value ?? '').trim();
  }

  #onInput(): void {
    clearTimeout(this.#timer);
    this.active = undefined;
    if (this.#text === '') this.#shut();
    else this.#timer = setTimeout(() => void this.#suggest(), TYPED);
  }

  async #suggest(): Promise<void> {
    const text = this.#text;
    if (text === '') return;
    const reply = await get<Found>(searchPath(text, false));
    // The user may have typed on, or left the field. Without suggestions, Enter still searches.
    if (text !== this.#text || document.activeElement !== this.#input || !reply.ok) return;
    this.found = reply.body;
    this.isOpen = true;
    if (reply.body.isReading) this.#timer = setTimeout(() => void this.#suggest(), AGAIN);
  }

  #onKey(event: KeyboardEvent): void {
    const { length } = this.#hits;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === 'Escape' && this.isOpen) {
      event.preventDefault();
      this.#shut();
    } else if (step !== undefined && length > 0) {
      event.preventDefault();
      this.active = this.isOpen ? around(this.active, step, length) : undefined;
      this.isOpen = true;
    }
  }

  #submit(event: SubmitEvent): void {
    event.preventDefault();
    const text = this.#text;
    const hit = this.isOpen && this.active !== undefined ? this.#hits[this.active] : undefined;
    if (hit) this.#goTo(hit);
    else if (text !== '') this.#leave(routeOfEnter(text, this.found));
  }

  #goTo(hit: Hit): void {
    this.#leave(routeOfHit(hit));
  }

  #leave(route: Parameters<Page['go']>[0]): void {
    this.#shut();
    this.found = undefined;
    this.querySelector('form')?.reset();
    this.page?.go(route);
  }

  #shut(): void {
    clearTimeout(this.#timer);
    this.isOpen = false;
    this.active = undefined;
  }

  /** `/` leads to the field from everywhere, except from another field and from a dialog. */
  #focusBySlash(event: KeyboardEvent): void {
    if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (
      (event.target as Element).closest('input, textarea, select, [contenteditable]') ||
      document.querySelector('dialog[open]')
    )
      return;
    event.preventDefault();
    this.#input?.focus();
    this.#input?.select();
  }
}

/** The next suggestion; after the last one comes the text itself (undefined), and then the first one again. */
const around = (active: number | undefined, step: number, length: number): number | undefined => {
  const next = (active ?? (step > 0 ? -1 : length)) + step;
  return next < 0 || next >= length ? undefined : next;
};

customElements.define('search-field', SearchField);
