/** The overview: health, the flow, the operations, and charts. */
import { html, nothing, type TemplateResult } from 'lit';
import type { Operation } from '../../../../../src/api/operations/responses.ts';
import type { Queues } from '../../../../../src/api/queues/responses.ts';
import type { TargetPage } from '../../../../../src/api/targets/responses.ts';
import { PATHS } from '../base/api.ts';
import { count } from '../base/format.ts';
import type { Page, Screen } from '../base/screen.ts';
import { chartSection } from '../components/chart-section.ts';
import { operationTable } from '../components/operation-table.ts';
import { link, refused, shape, skeleton } from '../components/parts.ts';
import { PausedTargets } from '../components/paused-targets.ts';
import { Removed } from '../components/removed.ts';
import { sendHint } from '../components/send-dialog.ts';
import { stations } from '../model/flow.ts';
import { type Health, healthOf, type Trouble } from '../model/health.ts';
import { soFar } from '../model/words.ts';

/**
 * Maximum number of Targets that are read for each operation, and maximum number of operations (`OPERATIONS`). The sum
 * of waiting tasks covers only these Targets. If there are more, the sum is shown as a lower bound.
 */
const TARGETS = 20;
const OPERATIONS = 8;
const TROUBLES = 6;

export const overviewScreen = (page: Page): Screen => {
  const removed = new Removed(page);
  const paused = new PausedTargets(page, () => lookedAt());
  const lookedAt = (): readonly string[] => page.about?.operations.slice(0, OPERATIONS) ?? [];
  const pathOf = (operation: string): string => PATHS.targets({ operation, limit: TARGETS });
  return {
    title: 'Overview',
    paths: () => [PATHS.operations, PATHS.queues, ...lookedAt().map(pathOf)],
    render: () => {
      const { live, now } = page;
      const operations = live.body<{ readonly operations: readonly Operation[] }>(PATHS.operations)?.operations;
      const queues = live.body<Queues>(PATHS.queues);
      const pages = new Map(
        lookedAt().flatMap((operation) => {
          const found = live.body<TargetPage>(pathOf(operation));
          return found ? [[operation, found] as const] : [];
        }),
      );
      const isLookedAt = page.about !== undefined && pages.size === lookedAt().length;
      const targets = isLookedAt ? [...pages.values()].flatMap((each) => each.targets) : undefined;
      const hasMore =
        lookedAt().length < (page.about?.operations.length ?? 0) ||
        [...pages.values()].some(({ cursor }) => cursor !== undefined);
      const areMetricsKnown = live.metrics || live.isTroubled('metrics') || page.about?.metrics.from === 'nowhere';
      const isKnown = operations && queues && targets && areMetricsKnown;
      const input = { queues, targets: targets ?? [], metrics: live.metrics, now };
      return html`
        ${headline(page, isKnown ? healthOf({ ...input, operations, removed: removed.operations, paused: paused.all }) : undefined)}
        ${refused(page, PATHS.operations) ?? nothing}
        ${targets?.length === 0 && !hasMore ? invitation(page) : nothing}
        <section aria-labelledby="flow-title">
          <h2 id="flow-title">The flow</h2>
          <flow-drawing .stations=${stations({ queues, metrics: live.metrics, targets, hasMore })}></flow-drawing>
        </section>
        <section aria-labelledby="operations-title">
          <h2 id="operations-title">Operations</h2>
          ${operationTable(page, operations, pages)}
        </section>
        ${chartSection(page, {})}`;
    },
  };
};

const headline = ({ live, now }: Page, health: Health | undefined): TemplateResult => {
  const tone = !health ? 'idle' : health.troubles.length === 0 ? 'ok' : (health.troubles[0]?.tone ?? 'warn');
  return html`
    <section class="health ${tone}" aria-label="Health">
      <div class="top">
        <h1 tabindex="-1">${shape(tone)}<span role="status">${health ? health.headline : 'Checking…'}</span></h1>
        <p class="since">${health ? (health.troubles.length === 0 ? health.since : nothing) : skeleton('l')}</p>
      </div>
      <p class="sum">${live.metrics ? soFar(live.metrics.totals, now) : health ? nothing : skeleton('l')}</p>
      ${
        health && health.troubles.length > 0
          ? html`<ul>${health.troubles.slice(0, TROUBLES).map(trouble)}</ul>
            ${health.troubles.length > TROUBLES ? html`<p class="muted">and ${count(health.troubles.length - TROUBLES)} more</p>` : nothing}`
          : nothing
      }
    </section>`;
};

const trouble = ({ tone, word, text, next, route }: Trouble): TemplateResult => html`
  <li class=${tone}>${shape(tone)}<p><strong>${link(route, word)}</strong> ${text} <span class="muted">${next}</span></p></li>`;

const invitation = (page: Page): TemplateResult => html`
  <section class="invitation" aria-labelledby="first-title">
    <h2 id="first-title">Send the first task</h2>
    <p>No task was registered yet. A task waits with the other tasks of its Target, is sent downstream with them in one batch, and gets its own result. The page of the task shows each step.</p>
    <p>${sendHint(page)}</p>
  </section>`;
