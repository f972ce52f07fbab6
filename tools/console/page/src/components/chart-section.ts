/** The charts of a view, with the choice of their time range. */
import { html, nothing, type TemplateResult } from 'lit';
import type { About, MetricsView, Series } from '../../../server/shapes.ts';
import { chartWindow, chooseChartWindow } from '../base/chart-window.ts';
import { duration } from '../base/format.ts';
import type { Page } from '../base/screen.ts';
import { type ChartsKind, chartsOf, windowInWords } from '../model/charts.ts';
import { lastPart } from '../model/series.ts';

/** @param of the dimensions to select: those of one operation, or none to include all operations. */
export const chartSection = (page: Page, of: Series['of'] = {}, kind: ChartsKind = 'tasks'): TemplateResult => {
  const { live, about, now } = page;
  return html`
    <section aria-labelledby="charts-title">
      <h2 id="charts-title">Charts <span class="muted">the values beside the names are for the last minute</span></h2>
      ${
        about?.metrics.from === 'nowhere'
          ? none
          : html`
        <div class="ranges">${about ? ranges(page, about) : nothing}</div>
        <div class="charts">
          ${chartsOf({ view: about && viewOf(page, about), recent: live.metrics, now }, of, kind).map((chart) => html`<chart-panel .chart=${chart}></chart-panel>`)}
        </div>`
      }
    </section>`;
};

const none = html`<p class="muted">There are no charts, because the console was started without the name of the stack. Start it with <code>groupage console --stack NAME</code>.</p>`;

/** The metrics of the chosen time range. Undefined until they have arrived. */
const viewOf = ({ live: { metrics, charts } }: Page, about: About): MetricsView | undefined => {
  const window = chartWindow(about);
  if (window <= about.metrics.window) return metrics && lastPart(metrics, window);
  // After a change of the time range, the metrics of the previous one are still there for a moment.
  return charts && charts.step * charts.steps === window ? charts : undefined;
};

const ranges = (page: Page, about: About): TemplateResult => {
  const { windows } = about.metrics;
  const window = chartWindow(about);
  const { everySeconds = 0 } = windows.find(({ millis }) => millis === window) ?? {};
  const choose = (event: Event): void => {
    chooseChartWindow(Number((event.target as HTMLInputElement).value));
    page.redraw();
  };
  return html`
    <fieldset @change=${choose}>
      <legend class="unseen">Time range of the charts</legend>
      ${windows.map(({ millis }) => html`<label><input type="radio" name="chart-window" .value=${String(millis)} .checked=${millis === window} />${windowInWords(millis)}</label>`)}
    </fieldset>
    ${everySeconds > 60 ? html`<span class="muted">updated every ${duration(everySeconds * 1_000)}</span>` : nothing}`;
};
