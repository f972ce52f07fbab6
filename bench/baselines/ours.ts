/** Our own schedules, counted as the published algorithm's are. */
import { membersOf } from '../../src/batching/batch.ts';
import { electLeader } from '../../src/batching/elect-leader.ts';
import { group } from '../../src/batching/group.ts';
import { handleBatch } from '../../src/batching/handle-batch.ts';
import type { TaskId } from '../../src/batching/ids.ts';
import { registerAll } from '../../src/batching/register.ts';
import { operationFor } from '../../src/config/resolved.ts';
import type { Steps } from '../../src/simulation/functions.ts';
import { type Report, runSchedule, type Scenario } from '../../src/simulation/world.ts';
import { countCalls, NOTHING, type Outcome, sentTasks } from './outcome.ts';
import { charged, PRICES, type Units } from './prices.ts';

/**
 * Runs a schedule of the real steps. The same scenario gives the same outcome.
 *
 * @throws Error where a promise of ours breaks: that is a defect, and such a run has no figures.
 */
export const runOurs = async (scenario: Scenario): Promise<Outcome> => {
  const units: Units = { write: 0, read: 0 };
  const report = await runSchedule({ ...scenario, steps: meteredSteps(units) });
  if (report.violation) throw new Error(`schedule ${scenario.seed} breaks a promise: ${report.violation.message}`);
  return { ...count(scenario, report), writeUnits: units.write, readUnits: units.read };
};

const meteredSteps = (units: Units): Steps => ({
  registerAll: (deps, messages, onFailure) => {
    const tasks = charged(deps.tasks, PRICES.tasks, units);
    const waiting = charged(deps.waiting, PRICES.waiting, units);
    const locks = charged(deps.locks, PRICES.locks, units);
    return registerAll({ ...deps, tasks, waiting, locks }, messages, onFailure);
  },
  electLeader: (deps, message) => {
    const waiting = charged(deps.waiting, PRICES.waiting, units);
    const locks = charged(deps.locks, PRICES.locks, units);
    return electLeader({ ...deps, waiting, locks }, message);
  },
  group: (deps, message, delivery) => {
    const tasks = charged(deps.tasks, PRICES.tasks, units);
    const waiting = charged(deps.waiting, PRICES.waiting, units);
    const locks = charged(deps.locks, PRICES.locks, units);
    const batches = charged(deps.batches, PRICES.batches, units);
    return group({ ...deps, tasks, waiting, locks, batches }, message, delivery);
  },
  handleBatch: (deps, message, invocation) => {
    const tasks = charged(deps.tasks, PRICES.tasks, units);
    const batches = charged(deps.batches, PRICES.batches, units);
    return handleBatch({ ...deps, tasks, batches }, message, invocation);
  },
});

const count = (scenario: Scenario, { tables, log }: Report): Outcome => {
  const sent = sentTasks(scenario);
  const isEnded = (id: TaskId): boolean => {
    const status = tables.tasks.get(id)?.state.status;
    return status === 'succeeded' || status === 'failed';
  };
  // Dead letters of ours are sent again until they are done: there is none in the end.
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
