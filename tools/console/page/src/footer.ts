/** The bottom of the page, which says what it costs to show the page. */
import { html, nothing, type TemplateResult } from 'lit';
import { count, dollars } from './base/format.ts';
import type { Page } from './base/screen.ts';

export const footer = ({ about, live }: Page): TemplateResult => {
  const { usage } = live;
  return html`
    <footer>
      <p>
        <span class="connection ${live.connection}">${CONNECTION[live.connection]}</span>
        ${
          usage && about
            ? html`<span>Open pages use <strong>${count(usage.readUnitsPerHour)}</strong> of at most ${count(about.readUnitsPerHourMax)} DynamoDB read units an hour; ${count(usage.readUnits)} so far.</span>
              <span>Updated every ${count(Math.max(1, usage.everySeconds))} s while a page is open.</span>`
            : html`<span>…</span>`
        }
        ${about && about.metrics.dollarsPerHour > 0 ? html`<span>CloudWatch metrics cost ${dollars(about.metrics.dollarsPerHour)} an hour.</span>` : nothing}
      </p>
      <p>${about ? html`Groupage ${about.version}` : '…'}</p>
    </footer>`;
};

const CONNECTION = { connecting: '○ connecting', open: '● live', lost: '△ not connected' } as const;
