/** Schedules of fan-outs, and the figures that are counted. */
import { noFaultCounts } from '../../src/virtual/faults.ts';
import { firstBroken, type Kind } from '../harness/schedules.ts';
import { type FanOutScenario, fanOutScenarioOf } from './scenario.ts';
import { type FanOutReport, runFanOuts } from './schedule.ts';

const NO_ENDS = { 'all-done': 0, 'too-many-failed': 0, idle: 0, deleted: 0 };
const NONE = { fanOuts: 0, items: 0, ends: NO_ENDS, faults: noFaultCounts() };

export const FAN_OUTS: Kind<FanOutScenario, FanOutReport, typeof NONE> = {
  script: 'simulate:fan-outs',
  main: new URL('./main.ts', import.meta.url),
  sizes: { usual: { scenarioOf: fanOutScenarioOf } },
  run: runFanOuts,
  brokenIn: firstBroken,
  none: NONE,
  figuresOf: ({ tables, faults }) => {
    const all = [...tables.fanOuts.values()];
    const ends = { ...NO_ENDS };
    for (const { ended } of all) if (ended && ended.because !== 'cancelled') ends[ended.because] += 1;
    return { fanOuts: all.length, items: all.reduce((sum, { total }) => sum + total, 0), ends, faults };
  },
  inWords: ({ items }) => `${items} items`,
};
