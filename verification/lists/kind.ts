/** Schedules of deferred lists, and the figures that are counted. */
import { noFaultCounts } from '../../src/virtual/faults.ts';
import { firstBroken, type Kind } from '../harness/schedules.ts';
import { type ListScenario, listScenarioOf } from './scenario.ts';
import { type ListReport, runLists } from './schedule.ts';

const NO_ENDS = { complete: 0, cancelled: 0, expired: 0 };
const NONE = { lists: 0, jobs: 0, tasks: 0, ends: NO_ENDS, faults: noFaultCounts() };

export const LISTS: Kind<ListScenario, ListReport, typeof NONE> = {
  script: 'simulate:lists',
  main: new URL('./main.ts', import.meta.url),
  sizes: { usual: { scenarioOf: listScenarioOf } },
  run: runLists,
  brokenIn: firstBroken,
  none: NONE,
  figuresOf: ({ tables, faults }) => {
    const all = [...tables.fanOuts.values()];
    const ends = { ...NO_ENDS };
    for (const { status } of all) if (status !== 'open' && status !== 'sealed') ends[status] += 1;
    const jobs = all.reduce((sum, { total }) => sum + total, 0);
    // `tasks`: the number of jobs that became tasks.
    return { lists: all.length, jobs, tasks: tables.tasks.size, ends, faults };
  },
  inWords: ({ jobs }) => `${jobs} jobs`,
};
