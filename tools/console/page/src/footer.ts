/** The bottom of the page, which says what it costs to show the page. */
import { html, nothing, type TemplateResult } from 'lit';
import type { About, Usage } from '../../server/shapes.ts';
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
            ? html`<span>${reading(about, usage)}</span>
              <span>Updated every ${count(Math.max(1, usage.everySeconds))} s while a page is open.</span>`
            : html`<span>…</span>`
        }
        ${about && about.metrics.dollarsPerHour > 0 ? html`<span>CloudWatch metrics cost ${dollars(about.metrics.dollarsPerHour)} an hour.</span>` : nothing}
      </p>
      <p>${about ? html`Groupage ${about.version}` : '…'}</p>
    </footer>`;
};

/** What reading costs. On this machine it costs nothing, so the number only helps to estimate a deployed stack. */
const reading = ({ source, readUnitsPerHourMax }: About, { readUnitsPerHour, readUnits }: Usage): TemplateResult =>
  source.kind === 'local'
    ? html`Reading is free on this machine. A deployed stack would use ${count(readUnitsPerHour)} DynamoDB read units an hour for the open pages, and never more than ${count(readUnitsPerHourMax)}.`
    : html`Open pages use <strong>${count(readUnitsPerHour)}</strong> of at most ${count(readUnitsPerHourMax)} DynamoDB read units an hour; ${count(readUnits)} so far.`;

const CONNECTION = { connecting: '○ connecting', open: '● live', lost: '△ not connected' } as const;
