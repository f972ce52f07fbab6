/** Schedules of tasks: their sizes, and the figures that are counted. */
import { runNumber } from '../../src/domain/tasks/task.ts';
import { noFaultCounts } from '../../src/virtual/faults.ts';
import { firstBroken, type Kind } from '../harness/schedules.ts';
import { crowdedScenarioOf } from './crowded-scenario.ts';
import { harshScenarioOf } from './harsh-scenario.ts';
import { largeScenarioOf } from './large-scenario.ts';
import { longScenarioOf } from './long-scenario.ts';
import type { Scenario } from './scenario.ts';
import { type Report, runSchedule } from './schedule.ts';
import { scenarioOf } from './usual-scenario.ts';

const NONE = { tasks: 0, lives: 0, batches: 0, calls: 0, faults: noFaultCounts() };

export type Size = 'usual' | 'harsh' | 'large' | 'crowded' | 'long';

export const BATCHES: Kind<Scenario, Report, typeof NONE, Size> = {
  script: 'simulate:faults',
  main: new URL('./main.ts', import.meta.url),
  sizes: {
    usual: { scenarioOf },
    harsh: { scenarioOf: harshScenarioOf },
    large: { scenarioOf: largeScenarioOf, chunk: 2 },
    crowded: { scenarioOf: crowdedScenarioOf, chunk: 1 },
    long: { scenarioOf: longScenarioOf, chunk: 5 },
  },
  run: runSchedule,
  brokenIn: firstBroken,
  none: NONE,
  figuresOf: ({ tables, expired, calls, faults }) => {
    const tasks = [...tables.tasks.values(), ...expired.tasks.map(({ row }) => row)];
    return {
      tasks: tasks.length,
      // The runs of tasks: each registration begins a run, and so does each redrive.
      lives: tasks.reduce((sum, task) => sum + runNumber(task), 0),
      batches: tables.batches.size + expired.batches.length,
      calls,
      faults,
    };
  },
  inWords: ({ lives }) => `${lives} lives`,
  livesIn: ({ lives }) => lives,
  // Loaded lazily, because worker threads never shrink a schedule.
  shrink: async (scenario) => (await import('./shrink.ts')).shrink(scenario),
};
