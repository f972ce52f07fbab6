/** The charts of the flow, of all operations or of one. */
import { html, type TemplateResult } from 'lit';
import type { MetricsView, Series } from '../../../server/shapes.ts';
import { chartsOf } from '../model/charts.ts';

export const charts = (metrics: MetricsView | undefined, of: Series['of']): TemplateResult => html`
  <div class="charts">
    ${chartsOf(metrics, of).map((chart) => html`<chart-panel .chart=${chart}></chart-panel>`)}
  </div>`;
