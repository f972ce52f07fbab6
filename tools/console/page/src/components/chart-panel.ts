/** A chart of the recent metrics, with the latest values as text beside the chart's name. */
import { html, LitElement, type PropertyValues, type TemplateResult } from 'lit';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { MetricsView, Series } from '../../../server/shapes.ts';
import { type Chart, chartsOf, type Line } from '../model/charts.ts';

const HEIGHT = 132;
/** The possible distances between two marks on a scale for counts. */
const WHOLE = Array.from({ length: 9 }, (_, power) => [1, 2, 5].map((times) => times * 10 ** power)).flat();

class ChartPanel extends LitElement {
  static override readonly properties = { chart: { attribute: false } };
  declare chart: Chart | undefined;
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
    const lines = this.chart?.lines ?? [];
    return html`
      <figure class="chart">
        <figcaption><span class="name">${this.chart?.name ?? ''}</span><span class="latest">${this.chart?.latest ?? ''}</span></figcaption>
        <div class="plot" aria-hidden="true"></div>
        <p class="legend" aria-hidden="true">${lines.map(({ name, as }) => html`<span class="key ${as}">${name}</span>`)}</p>
      </figure>`;
  }

  override updated(_: PropertyValues): void {
    if (!this.chart) return;
    const shape = this.chart.lines.map(({ name }) => name).join();
    if (this.#plot && shape === this.#drawn) this.#plot.setData(dataOf(this.chart));
    else this.#anew();
  }

  #anew(): void {
    this.#forget();
    const place = this.querySelector<HTMLElement>('.plot');
    if (!this.chart || !place || place.clientWidth === 0) return;
    this.#drawn = this.chart.lines.map(({ name }) => name).join();
    this.#plot = new uPlot(optionsOf(this.chart, place.clientWidth, this), dataOf(this.chart), place);
  }

  #fit(): void {
    const width = this.querySelector<HTMLElement>('.plot')?.clientWidth ?? 0;
    if (!this.#plot) this.#anew();
    else if (width > 0 && width !== this.#plot.width) this.#plot.setSize({ width, height: HEIGHT });
  }

  #forget(): void {
    this.#plot?.destroy();
    this.#plot = undefined;
  }
}

const dataOf = ({ at, lines }: Chart): uPlot.AlignedData => [
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
        size: 54,
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

/** The charts of all operations together, or of one operation. */
export const charts = (metrics: MetricsView | undefined, of: Series['of']): TemplateResult => html`
  <div class="charts">
    ${chartsOf(metrics, of).map((chart) => html`<chart-panel .chart=${chart}></chart-panel>`)}
  </div>`;
