/** Shows how long ago a time was. The text updates itself without a redraw of the page. */
import { age, clock, relative } from '../base/format.ts';

/** `<time-ago at="ISO" form="age">`. The form `age` leaves out the words "ago" and "in". */
class TimeAgo extends HTMLElement {
  static readonly observedAttributes = ['at', 'form'];
  static readonly #all = new Set<TimeAgo>();
  static #timer: ReturnType<typeof setInterval> | undefined;

  connectedCallback(): void {
    TimeAgo.#all.add(this);
    TimeAgo.#timer ??= setInterval(() => {
      for (const each of TimeAgo.#all) each.draw();
    }, 1_000);
    this.draw();
  }

  disconnectedCallback(): void {
    TimeAgo.#all.delete(this);
    if (TimeAgo.#all.size > 0) return;
    clearInterval(TimeAgo.#timer);
    TimeAgo.#timer = undefined;
  }

  attributeChangedCallback(): void {
    if (this.isConnected) this.draw();
  }

  draw(): void {
    const at = Date.parse(this.getAttribute('at') ?? '');
    if (Number.isNaN(at)) {
      this.textContent = '–';
      return;
    }
    const now = Date.now();
    const text = this.getAttribute('form') === 'age' ? age(now - at) : relative(at, now);
    if (this.textContent !== text) this.textContent = text;
    this.title = clock(at, now);
  }
}

customElements.define('time-ago', TimeAgo);
