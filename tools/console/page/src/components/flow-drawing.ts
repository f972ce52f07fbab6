/**
 * The drawing of the flow, as wide as its container. Each station shows its number and links to a view with details.
 */
import { html, LitElement, svg, type TemplateResult } from 'lit';
import { spoken } from '../base/format.ts';
import { href } from '../base/router.ts';
import type { Station } from '../model/flow.ts';
import { layOut, type Place, WIDE_FROM } from '../model/flow-layout.ts';

class FlowDrawing extends LitElement {
  static override readonly properties = { stations: { attribute: false }, width: { state: true } };
  declare stations: readonly Station[];
  declare width: number;
  readonly #observer = new ResizeObserver(([entry]) => {
    if (entry) this.width = Math.floor(entry.contentRect.width);
  });

  constructor() {
    super();
    this.stations = [];
    this.width = 0;
  }

  override createRenderRoot(): this {
    return this;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.width = Math.floor(this.getBoundingClientRect().width);
    this.#observer.observe(this);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#observer.disconnect();
  }

  override render(): TemplateResult {
    // Before the styles have arrived, the drawing has no width.
    if (this.width <= 0) return html``;
    const drawing = layOut(this.width);
    const isWide = this.width >= WIDE_FROM;
    return html`<svg width=${drawing.width} height=${drawing.height} role="group" aria-label="The flow, from producers to results">
      <defs><marker id="arrow" viewBox="0 0 6 6" refX="5" refY="3" markerWidth="6" markerHeight="6" orient="auto"><path d="M0 0L6 3L0 6z" class="arrow" /></marker></defs>
      ${drawing.lines.map(({ path }) => svg`<path d=${path} class="line" marker-end="url(#arrow)" />`)}
      ${this.stations.map((station) => {
        const place = drawing.places.get(station.id);
        return place ? (isWide ? box(station, place) : row(station, place)) : '';
      })}
    </svg>`;
  }
}

const outline = ({ kind }: Station, { x, y, width, height }: Place) =>
  svg`<rect x=${x} y=${y} width=${width} height=${height} rx=${kind === 'function' ? 12 : 4} class="box" />`;

/** Describes a station with a short lower bound in the words that a screen reader can read aloud. */
const described = ({ value = '', unit, detail = '' }: Station) => {
  const [shown, words] = [`${value} ${unit}, ${detail}`, spoken(`${value} ${unit}, ${detail}`)];
  return shown === words ? '' : svg`<desc>${words}</desc>`;
};

const box = (station: Station, place: Place) => svg`
  <a href=${href(station.route)} class="station ${station.kind} ${station.tone}">
    ${described(station)}
    ${outline(station, place)}
    <rect x=${place.x} y=${place.y + 14} width="3" height=${place.height - 28} class="edge" />
    <text x=${place.x + 14} y=${place.y + 21} class="name">${station.name}</text>
    <text x=${place.x + 14} y=${place.y + 47} class="value">${station.value ?? '…'}<tspan class="unit" dx="6">${station.unit}</tspan></text>
    <text x=${place.x + 14} y=${place.y + 68} class="detail">${station.detail ?? ''}</text>
  </a>`;

const row = (station: Station, place: Place) => svg`
  <a href=${href(station.route)} class="station ${station.kind} ${station.tone}">
    ${described(station)}
    ${outline(station, place)}
    <rect x=${place.x} y=${place.y + 10} width="3" height=${place.height - 20} class="edge" />
    <text x=${place.x + 14} y=${place.y + 19} class="name">${station.name}</text>
    <text x=${place.x + 14} y=${place.y + 36} class="detail">${station.detail ?? ''}</text>
    <text x=${place.x + place.width - 12} y=${place.y + 21} class="value low">${station.value ?? '…'}</text>
    <text x=${place.x + place.width - 12} y=${place.y + 36} class="unit low">${station.unit}</text>
  </a>`;

customElements.define('flow-drawing', FlowDrawing);
