/** A button that copies a text to the clipboard and confirms it. */
import { html, LitElement } from 'lit';

const SAID_FOR = 2_000;

class CopyButton extends LitElement {
  static override readonly properties = { text: {}, label: {}, said: { state: true } };
  declare text: string;
  declare label: string;
  declare said: string;

  constructor() {
    super();
    this.text = '';
    this.label = 'Copy';
    this.said = '';
  }

  override createRenderRoot(): this {
    return this;
  }

  override render() {
    return html`<button type="button" class="small" title=${this.label} @click=${() => this.#copy()}>
      <span class="unseen">${this.label}</span><span aria-hidden="true">${this.said || 'Copy'}</span>
      </button><span class="unseen" role="status">${this.said}</span>`;
  }

  /**
   * Copying can fail. A browser may refuse access to the clipboard, and it offers no clipboard if the page was loaded
   * without encryption.
   */
  async #copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(this.text);
      this.said = 'Copied';
    } catch (cause) {
      this.said = cause instanceof DOMException || cause instanceof TypeError ? 'Refused' : String(cause);
    }
    setTimeout(() => {
      this.said = '';
    }, SAID_FOR);
  }
}

customElements.define('copy-button', CopyButton);
