/** Schedules of Groupage, with the same counts as for the published algorithm. */
import { membersOf } from '../../src/domain/batches/batch.ts';
import { operationFor } from '../../src/domain/config/resolved.ts';
import type { TaskId } from '../../src/domain/ids.ts';
import type { Steps } from '../../src/processes/functions.ts';
import { charged, pricesOf, type Spent } from '../../src/processes/units.ts';
import { handleBatch } from '../../src/steps/call/handle-batch.ts';
import type { Deps } from '../../src/steps/deps.ts';
import { electLeader } from '../../src/steps/lead/elect-leader.ts';
import { group } from '../../src/steps/lead/group.ts';
import { registerAll } from '../../src/steps/register/register.ts';
import type { Scenario } from '../../verification/batches/scenario.ts';
import { type Report, runSchedule } from '../../verification/batches/schedule.ts';
import { countCalls, NOTHING, type Outcome, sentTasks } from './outcome.ts';

interface Units {
  write: number;
  read: number;
}

/**
 * Runs a schedule of the real steps. The same scenario gives the same outcome.
 *
 * @throws Error if Groupage breaks a promise: this is a defect, and the schedule has no figures
 */
export const runOurs = async (scenario: Scenario): Promise<Outcome> => {
  const units: Units = { write: 0, read: 0 };
  const report = await runSchedule({ ...scenario, steps: meteredSteps(units) });
  if (report.violation) throw new Error(`schedule ${scenario.seed} breaks a promise: ${report.violation.message}`);
  return { ...count(scenario, report), writeUnits: units.write, readUnits: units.read };
};

const meteredSteps = (units: Units): Steps => {
  const { tasks, waiting, locks, batches } = pricesOf({ batches: new Map(), payloads: new Map() });
  const spend = (spent: readonly Spent[]): undefined => {
    for (const { write = 0, read = 0 } of spent) {
      units.write += write;
      units.read += read;
    }
  };
  /** Even the large payloads of a schedule are small, so payloads count as part of the task's row. */
  const small: typeof tasks = {
    ...tasks,
    storePayloads: () => [],
    members: ([ids]) => [{ table: 'task', read: ids.length }],
    readEventually: ([ids]) => [{ table: 'task', read: ids.length / 2 }],
  };
  const paid = <Some extends Partial<Pick<Deps, 'tasks' | 'waiting' | 'locks' | 'batches'>>>(deps: Some): Some => ({
    ...deps,
    ...(deps.tasks ? { tasks: charged(deps.tasks, small, spend) } : {}),
    ...(deps.waiting ? { waiting: charged(deps.waiting, waiting, spend) } : {}),
    ...(deps.locks ? { locks: charged(deps.locks, locks, spend) } : {}),
    ...(deps.batches ? { batches: charged(deps.batches, batches, spend) } : {}),
  });
  return {
    registerAll: (deps, messages, onFailure) => registerAll(paid(deps), messages, onFailure),
    // The elect function reads batches only under limits, which these schedules do not have.
    electLeader: ({ batches, ...deps }, message) => electLeader({ ...paid(deps), batches }, message),
    group: (deps, message, delivery) => group(paid(deps), message, delivery),
    handleBatch: (deps, message, invocation) => handleBatch(paid(deps), message, invocation),
  };
};

const count = (scenario: Scenario, { tables, log }: Report): Outcome => {
  const sent = sentTasks(scenario);
  const isEnded = (id: TaskId): boolean => {
    const status = tables.tasks.get(id)?.state.status;
    return status === 'succeeded' || status === 'failed';
  };
  // Groupage redrives dead letters until their tasks are done, so no task remains in a dead letter at the end.
  const stranded = [...sent.keys()].filter((id) => !isEnded(id)).length;
  const batches = [...tables.batches.values()].filter((batch) => membersOf(batch).length > 0);
  const members = batches.flatMap(membersOf);
  const seen = new Set<TaskId>();
  const again = members.filter((id) => seen.has(id) || !seen.add(id));
  return {
    ...NOTHING,
    schedules: 1,
    tasks: sent.size,
    schedulesStranded: Math.min(1, stranded),
    stranded,
    strandedStill: stranded,
    inTwoBatches: new Set(again).size,
    ...countCalls(sent, log.calls),
    batches: batches.length,
    members: members.length,
    places: batches.reduce((sum, { operation }) => sum + operationFor(scenario.config, operation).batch.maxSize, 0),
  };
};
