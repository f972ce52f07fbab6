/**
 * A chart of the metrics, with the values of the last minute as text beside its name. It reads out one step at a time:
 * the step under the pointer, or the step that the arrow keys lead to. For screen readers it is a slider over its steps.
 */
import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { type Chart, type Line, type Readout, readoutOf, stepAfterKey } from '../model/charts.ts';
import { skeleton } from './parts.ts';

const HEIGHT = 132;
/** The distance between the marked step and its text, in pixels. */
const BESIDE = 8;
/** The possible distances between two marks on a scale for counts. */
const WHOLE = Array.from({ length: 9 }, (_, power) => [1, 2, 5].map((times) => times * 10 ** power)).flat();

class ChartPanel extends LitElement {
  static override readonly properties = { chart: { attribute: false }, selected: { state: true } };
  declare chart: Chart | undefined;
  /** The start of the step that is read out, in seconds since the epoch. The step stays the same when new ones arrive. */
  declare selected: number | undefined;
  #plot: uPlot | undefined;
  #drawn = '';
  readonly #observer = new ResizeObserver(() => this.#fit());
  readonly #scheme = new MutationObserver(() => this.#anew());
  readonly #preferred = matchMedia('(prefers-color-scheme: dark)');
  readonly #onPreferred = (): void => this.#anew();

  override createRenderRoot(): this {
    return this;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.#observer.observe(this);
    this.#scheme.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    this.#preferred.addEventListener('change', this.#onPreferred);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#observer.disconnect();
    this.#scheme.disconnect();
    this.#preferred.removeEventListener('change', this.#onPreferred);
    this.#forget();
  }

  override render(): TemplateResult {
    const { chart } = this;
    return html`
      <figure class="chart">
        <figcaption><span class="name">${chart?.name ?? ''}</span><span class="latest">${chart?.latest ?? ''}</span></figcaption>
        ${chart?.at ? (chart.none === undefined ? this.#stage(chart, chart.at) : html`<p class="none">${chart.none}</p>`) : html`<p class="none">${skeleton('l')}</p>`}
      </figure>`;
  }

  #stage(chart: Chart, at: readonly number[]): TemplateResult {
    const index = this.#index(at);
    const readout = readoutOf(chart, index ?? at.length - 1, Date.now());
    return html`
      <div class="stage" role="slider" tabindex="0" aria-label=${`${chart.name}, step by step`}
        aria-valuemin="1" aria-valuemax=${at.length} aria-valuenow=${(index ?? at.length - 1) + 1} aria-valuetext=${readout.spoken}
        @pointermove=${(event: PointerEvent) => this.#onPointer(event)} @pointerdown=${(event: PointerEvent) => this.#onPointer(event)}
        @pointerleave=${(event: PointerEvent) => this.#onLeave(event)} @keydown=${(event: KeyboardEvent) => this.#onKey(event, at)}
        @focus=${(event: FocusEvent) => this.#onFocus(event, at)} @blur=${() => this.#select(undefined)}>
        <div class="plot"></div>
        ${index === undefined ? nothing : html`<div class="marker"></div>${text(readout)}`}
      </div>
      <p class="legend" aria-hidden="true">${chart.lines.map(({ name, as }) => html`<span class="key ${as}">${name}</span>`)}</p>`;
  }

  override updated(_: PropertyValues): void {
    if (!this.chart?.at || this.chart.none !== undefined) {
      this.#forget();
      return;
    }
    if (this.#plot && this.#drawn === drawnAs(this.chart)) this.#plot.setData(dataOf(this.chart));
    else this.#anew();
    this.#place();
  }

  #anew(): void {
    this.#forget();
    const place = this.querySelector<HTMLElement>('.plot');
    if (!this.chart?.at || !place || place.clientWidth === 0) return;
    this.#drawn = drawnAs(this.chart);
    this.#plot = new uPlot(optionsOf(this.chart, place.clientWidth, this), dataOf(this.chart), place);
  }

  #fit(): void {
    const width = this.querySelector<HTMLElement>('.plot')?.clientWidth ?? 0;
    if (!this.#plot) this.#anew();
    else if (width > 0 && width !== this.#plot.width) this.#plot.setSize({ width, height: HEIGHT });
    this.#place();
  }

  #forget(): void {
    this.#plot?.destroy();
    this.#plot = undefined;
  }

  /** The number of the selected step. Undefined if none is selected, or if the chart no longer shows it. */
  #index(at: readonly number[]): number | undefined {
    const { selected } = this;
    const [first = 0] = at;
    if (selected === undefined || selected < first) return undefined;
    const index = at.findLastIndex((start) => start <= selected);
    return index < 0 ? undefined : index;
  }

  #select(start: number | undefined): void {
    this.selected = start;
  }

  /** A finger selects while it moves over the chart; a mouse needs no button. */
  #onPointer({ clientX }: PointerEvent): void {
    const plot = this.#plot;
    if (!plot) return;
    const index = plot.posToIdx(clientX - plot.over.getBoundingClientRect().left);
    this.#select(this.chart?.at?.[index]);
  }

  #onLeave({ pointerType }: PointerEvent): void {
    // After a touch, the text stays until the user touches something else.
    if (pointerType === 'mouse') this.#select(undefined);
  }

  #onFocus({ target }: FocusEvent, at: readonly number[]): void {
    if ((target as Element).matches(':focus-visible')) this.selected ??= at.at(-1);
  }

  #onKey(event: KeyboardEvent, at: readonly number[]): void {
    if (event.key === 'Escape') {
      this.#select(undefined);
      return;
    }
    const index = stepAfterKey(event.key, this.#index(at) ?? at.length, at.length);
    if (index === undefined) return;
    event.preventDefault();
    this.#select(at[index]);
  }

  /** Moves the marker and the text to the selected step. The page's policy allows no inline styles in templates. */
  #place(): void {
    const [plot, marker, readout] = [this.#plot, this.#part('.marker'), this.#part('.readout')];
    const index = this.chart?.at && this.#index(this.chart.at);
    const start = index === undefined ? undefined : this.chart?.at?.[index];
    if (!plot || !marker || !readout || start === undefined) return;
    const { offsetLeft, clientWidth } = plot.over;
    const left = offsetLeft + plot.valToPos(start, 'x');
    const isRight = left > offsetLeft + clientWidth / 2;
    marker.style.left = `${left}px`;
    readout.style.left = isRight ? 'auto' : `${left + BESIDE}px`;
    readout.style.right = isRight ? `${plot.width - left + BESIDE}px` : 'auto';
  }

  #part(selector: string): HTMLElement | null {
    return this.querySelector<HTMLElement>(selector);
  }
}

const text = ({ time, values, nothing: none }: Readout): TemplateResult => html`
  <div class="readout"><p class="time">${time}</p>
    ${values.length === 0 ? html`<p class="muted">${none}</p>` : values.map(({ name, value, as }) => html`<p><span class="key ${as}">${name}</span> <strong>${value}</strong></p>`)}
  </div>`;

/** The properties whose change requires a new plot instead of new data. */
const drawnAs = ({ lines, step }: Chart): string => `${step} ${lines.map(({ name }) => name).join()}`;

const dataOf = ({ at = [], lines }: Chart): uPlot.AlignedData => [
  [...at],
  ...lines.map(({ values }) => at.map((_, index) => values[index] ?? null)),
];

const optionsOf = (chart: Chart, width: number, host: Element): uPlot.Options => {
  const style = getComputedStyle(host);
  const colour = (name: string): string => style.getPropertyValue(name).trim();
  const axis = { stroke: colour('--muted'), font: '11px system-ui, sans-serif', ticks: { show: false }, size: 22 };
  return {
    width,
    height: HEIGHT,
    legend: { show: false },
    cursor: { show: false },
    padding: [8, 16, 0, 0],
    scales: { x: { time: true }, y: { range: (_, __, max) => [0, chart.top ?? (max > 0 ? max * 1.1 : 1)] } },
    axes: [
      { ...axis, space: 70, grid: { show: false }, values: (_, splits) => splits.map(timeOf) },
      {
        ...axis,
        size: 66,
        space: 30,
        ...(chart.isWhole ? { incrs: WHOLE } : {}),
        grid: { stroke: colour('--line'), width: 1 },
        values: (_, splits) => splits.map((value) => (value === null ? '' : chart.format(value))),
      },
    ],
    series: [{}, ...chart.lines.map((line) => seriesOf(line, colour))],
  };
};

const timeOf = (seconds: number): string => new Date(seconds * 1_000).toTimeString().slice(0, 5);

const seriesOf = ({ name, as, values }: Line, colour: (name: string) => string): uPlot.Series => {
  const stroke = colour(as === 'bad' ? '--bad' : as === 'second' ? '--chart-2' : '--chart-1');
  const bars = uPlot.paths.bars?.({ size: [0.7, 12] });
  // Draw points if there are gaps, because a value between two gaps has no line.
  const points = { show: values.includes(null), size: 4, fill: stroke, stroke };
  return as === 'bars' || as === 'bad'
    ? { label: name, stroke, fill: stroke, width: 0, points: { show: false }, ...(bars ? { paths: bars } : {}) }
    : { label: name, stroke, width: 1.5, points, ...(as === 'second' ? { dash: [5, 3] } : {}) };
};

customElements.define('chart-panel', ChartPanel);
