/** A Target: its waiting tasks, failed tasks and batches, with buttons to flush, pause and resume it. */
import { html, nothing, type TemplateResult } from 'lit';
import type { BatchPage } from '../../../../../src/api/batches/responses.ts';
import type { Target, TargetPage } from '../../../../../src/api/targets/responses.ts';
import type { TaskPage } from '../../../../../src/api/tasks/responses.ts';
import { because, PATHS, post } from '../base/api.ts';
import { capital, count, plural } from '../base/format.ts';
import { href } from '../base/router.ts';
import type { Page, Screen } from '../base/screen.ts';
import { batchTable } from '../components/batch-table.ts';
import { ask } from '../components/dialogs.ts';
import { heading } from '../components/heading.ts';
import { command, empty, facts, figure, isUnknown, link, skeleton } from '../components/parts.ts';
import { pauseButton, pauseNote } from '../components/pauses.ts';
import { askRedrive, redriveOfTarget } from '../components/redrive-dialog.ts';
import { sendHint } from '../components/send-dialog.ts';
import { pager } from '../components/table.ts';
import { taskTable } from '../components/task-table.ts';
import { underWayNote } from '../components/under-way.ts';
import { underWayWords } from '../model/under-way.ts';
import { targetState } from '../model/words.ts';

const TASKS = 20;
const BATCHES = 20;

export const targetScreen = (page: Page, target: string, cursor: string | undefined): Screen => {
  const operation = target.split('/')[0]?.replace(/~\d+$/, '') ?? target;
  const prefix = target.slice(operation.length + 1);
  const paths = {
    state: PATHS.targets({ operation, prefix, limit: 1 }),
    batches: PATHS.batches({ target, limit: BATCHES, cursor }),
    waiting: PATHS.tasks(target, 'created', TASKS),
    failed: PATHS.tasks(target, 'failed', TASKS),
  };
  return {
    title: target,
    paths: () => Object.values(paths),
    render: () => {
      const state = page.live.body<TargetPage>(paths.state)?.targets.find((each) => each.target === target);
      const batches = page.live.body<BatchPage>(paths.batches);
      const failed = page.live.body<TaskPage>(paths.failed);
      return html`
        ${heading({
          kind: 'Target',
          name: target,
          isId: true,
          state: state && targetState(state, page.now),
          under: [{ route: { view: 'operation', name: operation }, text: operation }],
          actions: state ? actions(page, state) : nothing,
        })}
        ${
          isUnknown(page, paths.batches)
            ? unknown(operation)
            : html`${state?.paused ? pauseNote('This Target', state.paused) : nothing}
        ${numbers(state)}
        ${underWayNote(state?.underWay, { view: 'batches', operation, which: 'under-way' }, page.now)}
        <section aria-labelledby="waiting-title">
          <h2 id="waiting-title">Waiting tasks, the next one first</h2>
          ${taskTable('Waiting tasks', page.live.body<TaskPage>(paths.waiting)?.tasks, waitingNone(page, operation))}
        </section>
        <section aria-labelledby="failed-title">
          <h2 id="failed-title">Failed tasks, newest first
            ${failed && failed.tasks.length > 0 ? html`<button class="small" @click=${() => askRedrive(page, redriveOfTarget(target))}>Redrive them…</button>` : nothing}</h2>
          ${taskTable('Failed tasks', failed?.tasks, empty('No failed task', 'Failed tasks of this Target are listed here with the reason, and can be redriven.'), 'failed')}
          ${failed?.cursor ? html`<p class="muted">The newest ${count(TASKS)} are shown. A redrive includes all failed tasks of the Target.</p>` : nothing}
        </section>
        <section aria-labelledby="batches-title">
          <h2 id="batches-title">Batches</h2>
          ${batchTable(batches?.batches)}
          ${pager(
            cursor === undefined ? undefined : href({ view: 'target', target }),
            batches?.cursor === undefined ? undefined : href({ view: 'target', target, cursor: batches.cursor }),
            'batches',
          )}
        </section>
        ${command('batches', '--target', target)}`
        }`;
    },
  };
};

const actions = (page: Page, state: Target): TemplateResult => html`
  <button @click=${() => flush(page, state)}>Flush…</button>
  ${pauseButton(page, state.operation, state.target, state.paused)}`;

const flush = (page: Page, { target, waiting, waitingIsAtLeast }: Target): void =>
  ask(page, {
    title: 'Flush this Target',
    text: `The waiting tasks (${count(waiting, waitingIsAtLeast)}) are sealed now, in batches that may not be full.`,
    button: 'Flush',
    run: (reason) => post(because('/v1/targets/flush', reason), { target }),
    done: (body) => flushed((body as { readonly waiting: number }).waiting),
  });

/** The API counts up to this number of waiting tasks. */
const COUNTED = 1_000;

const flushed = (waiting: number): string =>
  `${capital(count(waiting, waiting >= COUNTED))} waiting tasks are being sealed`;

const numbers = (state: Target | undefined): TemplateResult => html`
  <div class="figures">
    ${figure('Waiting', state ? count(state.waiting, state.waitingIsAtLeast) : skeleton('s'), 'tasks')}
    ${figure('Oldest task', state ? (state.oldestAt ? html`<time-ago at=${state.oldestAt} form="age"></time-ago>` : '–') : skeleton('s'), 'waiting time')}
    ${figure('In batches', state ? count(state.underWay?.tasks ?? 0, state.underWay?.isAtLeast) : skeleton('s'), state ? inFlightWords(state) : nothing)}
    ${figure('Leader', state ? (state.leader ? html`fence ${count(state.leader.fence)}` : '–') : skeleton('s'), state?.leader ? html`lease ends <time-ago at=${state.leader.lockedUntil}></time-ago>` : 'no leader now')}
  </div>
  ${
    state && (state.openBatch || state.inFlight?.length)
      ? facts([
          ['Open batch', state.openBatch && link({ view: 'batch', id: state.openBatch }, state.openBatch)],
          ['In flight', state.inFlight?.map((id) => html`<div>${link({ view: 'batch', id }, id)}</div>`)],
          [
            'Blocked',
            state.blocked &&
              html`waits for a free slot or the end of a pause since <time-ago at=${state.blocked.since}></time-ago>`,
          ],
        ])
      : nothing
  }`;

/** What the tasks in batches wait for, and how many batches are in flight if a cap counts them. */
const inFlightWords = ({ underWay, inFlight }: Target): string =>
  [
    ...(underWay ? [underWayWords(underWay)] : ['none under way']),
    ...(inFlight ? [`${plural(inFlight.length, 'batch', 'batches')} in flight`] : []),
  ].join('; ');

const unknown = (operation: string): TemplateResult =>
  empty(
    'No task of this Target was ever registered',
    html`See <a href=${href({ view: 'targets', operation })}>the Targets of ${operation}</a>.`,
  );

const waitingNone = (page: Page, operation: string): TemplateResult =>
  empty('No task waits', sendHint(page, operation));
