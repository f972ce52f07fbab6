/** Tasks in batches that are retried, have a job that reports later, or are held. */
import { html, nothing, type TemplateResult } from 'lit';
import type { UnderWaySummary } from '../../../../../src/api/operations/responses.ts';
import { count, plural } from '../base/format.ts';
import { href, type Route } from '../base/router.ts';
import { nextStep, oldestOf, underWayWords } from '../model/under-way.ts';
import { shape } from './parts.ts';

/** The number of these tasks, for a cell of a table. */
export const inBatches = (underWay: UnderWaySummary | undefined): unknown =>
  underWay
    ? html`<span title=${underWayWords(underWay)}>${count(underWay.tasks, underWay.isAtLeast)}</span>${underWay.retried > 0 ? html` <span class="muted">retried</span>` : nothing}`
    : '–';

/** The reasons why these tasks have no result, and the next step. @param route of the list of their batches. */
export const underWayNote = (
  underWay: UnderWaySummary | undefined,
  route: Route,
  now: number,
): TemplateResult | typeof nothing =>
  underWay
    ? html`
      <section aria-labelledby="under-way-title">
        <h2 id="under-way-title">In batches: ${count(underWay.tasks, underWay.isAtLeast)} ${underWay.tasks === 1 ? 'task' : 'tasks'} without a result</h2>
        <div class="note ${underWay.retried > 0 ? 'warn' : ''}">${shape(underWay.retried > 0 ? 'warn' : 'busy')}
          <div>
            <p>${plural(underWay.batches, 'batch', 'batches')}: ${underWayWords(underWay)}. The oldest task was registered ${oldestOf(underWay, now)} ago.</p>
            ${underWay.reasons.length > 0 ? html`<ul>${underWay.reasons.map(({ reason, tasks }) => html`<li>${plural(tasks, 'task')}: ${reason}</li>`)}</ul>` : nothing}
            ${underWay.retried > 0 ? html`<p>${nextStep(underWay.reasons[0]?.reason)}</p>` : nothing}
            <p><a href=${href(route)}>Show these batches</a></p>
          </div>
        </div>
      </section>`
    : nothing;
