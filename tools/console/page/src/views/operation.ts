/** An operation: its state, its slots and waiting Targets, with buttons to pause and resume it. */
import { html, nothing, type TemplateResult } from 'lit';
import type { Limit } from '../../../../../src/api/limits/responses.ts';
import type { OperationDetails } from '../../../../../src/api/operations/responses.ts';
import type { TargetPage } from '../../../../../src/api/targets/responses.ts';
import { WITHOUT_RESULTS } from '../../../../../src/domain/operations/notices.ts';
import { PATHS } from '../base/api.ts';
import { capital, count, percent, plural } from '../base/format.ts';
import { href } from '../base/router.ts';
import type { Page, Screen } from '../base/screen.ts';
import { adviceSection } from '../components/advice.ts';
import { chartSection } from '../components/chart-section.ts';
import { configurationSection } from '../components/configuration.ts';
import { heading } from '../components/heading.ts';
import { limitTable } from '../components/limit-table.ts';
import { command, empty, figure, isUnknown, link, progress, refused, shape, skeleton } from '../components/parts.ts';
import { pauseButton, pauseNote } from '../components/pauses.ts';
import { sendButton } from '../components/send-dialog.ts';
import { table } from '../components/table.ts';
import { targetTable } from '../components/target-table.ts';
import { underWayNote } from '../components/under-way.ts';
import { operationRows, operationState } from '../model/operation-rows.ts';

const TARGETS = 10;

export const operationScreen = (page: Page, name: string): Screen => {
  const path = PATHS.operation(name);
  const configurationPath = PATHS.configuration(name);
  const byName = PATHS.targets({ operation: name, limit: TARGETS });
  const byWaiting = PATHS.targets({ operation: name, sort: 'waiting', limit: TARGETS });
  // If no task waits, the first Targets by name are shown.
  const isIdle = (): boolean => page.live.body<TargetPage>(byWaiting)?.targets.length === 0;
  const targetsPath = (): string => (isIdle() ? byName : byWaiting);
  const advice = adviceSection(page, name);
  return {
    title: name,
    paths: () => [path, configurationPath, PATHS.limits, byWaiting, ...(isIdle() ? [byName] : [])],
    render: () => {
      const operation = page.live.body<OperationDetails>(path);
      const targets = page.live.body<TargetPage>(targetsPath());
      return html`
        ${heading({
          kind: 'Operation',
          name,
          state: operation && operationState(operation),
          actions: operation
            ? html`${sendButton(page, name)}${pauseButton(page, name, undefined, operation.paused)}`
            : nothing,
        })}
        ${
          isUnknown(page, path)
            ? refused(page, path)
            : html`${about(page, operation)}
        ${underWayNote(operation?.underWay, { view: 'batches', operation: name, which: 'under-way' }, page.now)}
        ${operation && operation.targets.length > 0 ? waiting(operation) : nothing}
        <section aria-labelledby="targets-title">
          <h2 id="targets-title">${isIdle() ? 'Its Targets' : 'Its Targets with waiting tasks, most first'}</h2>
          ${targetTable(targets?.targets, page.now, empty('No task of this operation was registered yet', sendButton(page, name)), 3)}
          ${targets?.cursor ? html`<p><a href=${href({ view: 'targets', operation: name })}>All Targets of this operation</a></p>` : nothing}
        </section>
        ${limits(page, name)}
        ${chartSection(page, { operation: name })}
        ${configurationSection(page, configurationPath)}
        ${advice.render()}
        ${operation?.paused ? command('resume', name) : command('pause', name, '--reason', '…')}`
        }`;
    },
  };
};

const about = ({ live }: Page, operation: OperationDetails | undefined): TemplateResult => {
  const [row] = operation ? operationRows([operation], new Map(), live.metrics) : [];
  const totals = row?.totals;
  const value = (of: number | undefined): unknown => (row ? count(of ?? 0) : skeleton('s'));
  return html`
    ${operation?.paused ? pauseNote('This operation', operation.paused) : nothing}
    ${operation?.answersWithoutResults ? html`<div class="note warn">${shape('warn')}<p>This operation: ${WITHOUT_RESULTS}.</p></div>` : nothing}
    <div class="figures">
      ${figure('Circuit', operation ? (operation.circuit ?? 'none') : skeleton('s'), operation ? `${count(operation.failures)} failures in a row${operation.lastFailure ? `, the last one: ${operation.lastFailure}` : ''}` : nothing)}
      ${figure('Registered', value(totals?.tasksRegistered), 'tasks')}
      ${figure('Succeeded', value(totals?.tasksSucceeded), html`${count(totals?.tasksFailed ?? 0)} failed`)}
      ${figure('Batches', value(totals?.batches), html`${count(totals?.calls ?? 0)} calls`)}
      ${figure('Calls saved', value(totals?.callsSaved), row?.savedShare === undefined ? nothing : `${percent(row.savedShare)} fewer calls`)}
    </div>
    ${operation?.slots ? slots(operation) : nothing}
`;
};

/** The limits of its calls. Empty if it has none, or if the API of a deployed stack is older. */
const limits = ({ live }: Page, name: string): unknown => {
  const of = live
    .body<{ readonly limits: readonly Limit[] }>(PATHS.limits)
    ?.limits.filter(({ operations }) => operations.includes(name));
  return of === undefined || of.length === 0
    ? nothing
    : html`
      <section aria-labelledby="limits-title">
        <h2 id="limits-title">Limits of its calls</h2>
        ${limitTable(of, empty('No limit', ''))}
      </section>`;
};

const slots = ({ slots: of, batches }: OperationDetails): TemplateResult => html`
  <section aria-labelledby="slots-title">
    <h2 id="slots-title">Slots</h2>
    ${progress(of?.taken ?? 0, of?.total ?? 0, `${count(of?.taken ?? 0)} of ${count(of?.total ?? 0)} slots are taken`)}
    ${batches.length > 0 ? html`<ul class="members">${batches.map((id) => html`<li>${link({ view: 'batch', id }, id, 'id')}</li>`)}</ul>` : nothing}
  </section>`;

/** A Target is listed once, although several of its batches may wait for their slot or for the test of the circuit. */
const waiting = ({
  targets,
  waitingTargets,
  waitingTargetsIsAtLeast,
  paused,
  slots: of,
}: OperationDetails): TemplateResult => {
  const rows = [...Map.groupBy(targets, ({ target }) => target)].map(([target, all]) => ({
    target,
    turns: all.length,
    since: all.reduce((oldest, { since }) => (since < oldest ? since : oldest), all[0]?.since ?? ''),
  }));
  const forWhat = paused ? 'the end of the pause' : of ? 'a free slot' : 'the test of the circuit';
  return html`
  <section aria-labelledby="room-title">
    <h2 id="room-title">${plural(rows.length, 'Target')} ${rows.length === 1 ? 'waits' : 'wait'} for ${forWhat}, the next one first</h2>
    ${waitingTargets > rows.length ? html`<p class="muted">${capital(count(waitingTargets, waitingTargetsIsAtLeast))} Targets and batches wait in all.</p>` : nothing}
    ${table({
      name: `Targets that wait for ${forWhat}`,
      columns: [
        { name: 'Target', cell: ({ target }) => link({ view: 'target', target }, target) },
        { name: 'Waiting turns', number: true, cell: ({ turns }) => count(turns) },
        { name: 'Since', number: true, cell: ({ since }) => html`<time-ago at=${since} form="age"></time-ago>` },
      ],
      rows,
      empty: empty('No Target waits', ''),
    })}
  </section>`;
};
