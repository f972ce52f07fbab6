/** The processes of the runtime in a run of real faults, each ended by SIGKILL at a random moment. */
import { setTimeout } from 'node:timers/promises';
import type { Random } from '../../src/virtual/random.ts';
import { eventually } from '../end-to-end/flow.ts';
import type { TestDownstream } from '../factories/downstream.ts';
import { RESTARTED } from '../local/kill-engine.ts';
import { type Life, startRuntime } from './runtime.ts';

export const KILLED = ['the runtime while it started', 'the runtime while it worked', 'the engine'] as const;

export interface Kill {
  readonly of: (typeof KILLED)[number];
  /** Milliseconds since 1970. */
  readonly at: number;
}

export interface Lives {
  readonly kills: readonly Kill[];
  /** The output of processes that ended by themselves. */
  readonly failures: readonly string[];
  /** The count of processes that reported a restart of their engine. */
  restarts(): number;
  /**
   * Runs as many processes as there are kills, and one more, which keeps running.
   *
   * @param onFirstReady starts the producers, as soon as a stack accepts messages.
   */
  endBy<Begun>(kills: number, onFirstReady: () => Begun): Promise<Begun>;
  /** Ends the last process. */
  stop(): Promise<void>;
}

/** The assumed time of a start until one was measured (ms). */
const USUAL_START = 1_000;
/** The longest wait for calls that may not come (ms). */
const PATIENCE = 2_000;

interface LivesOptions {
  readonly folder: string;
  readonly port: number;
  readonly random: Random;
  readonly downstream: TestDownstream;
}

export const livesIn = ({ folder, port, random, downstream }: LivesOptions): Lives => {
  const kills: Kill[] = [];
  const failures: string[] = [];
  const all: Life[] = [];
  let startTakes = USUAL_START;

  const happened = (of: Kill['of']): number => kills.push({ of, at: Date.now() });
  const die = async (life: Life): Promise<void> => {
    const wasReady = await life.kill();
    happened(wasReady ? 'the runtime while it worked' : 'the runtime while it started');
  };
  /** Waits for some calls, if any come: a process without calls has little to lose. */
  const someCalls = async (): Promise<void> => {
    const enough = downstream.calls.length + random.int(0, 15);
    for (const until = Date.now() + PATIENCE; downstream.calls.length < enough && Date.now() < until; )
      await setTimeout(10);
    await setTimeout(random.int(0, 300));
  };
  const restarted = (life: Life): Promise<unknown> =>
    Promise.race([life.failed, eventually(() => life.said().includes(RESTARTED))]);
  const start = (): Life => {
    const life = startRuntime(folder, port);
    all.push(life);
    void life.failed.then((why) => failures.push(why));
    return life;
  };
  const dieStarting = async (life: Life): Promise<void> => {
    await setTimeout(random.next() * startTakes * 1.1);
    await die(life);
  };
  const dieWorking = async (life: Life): Promise<void> => {
    startTakes = await untilReady(life);
    const isFirst = !kills.some(({ of }) => of === 'the engine');
    if (isFirst || random.chance(0.3)) {
      await someCalls();
      if (await life.killEngine()) happened('the engine');
      // Once for certain; later the runtime may die before its engine has restarted.
      if (isFirst) await restarted(life);
    }
    await someCalls();
    await die(life);
  };
  return {
    kills,
    failures,
    restarts: () => all.filter((life) => life.said().includes(RESTARTED)).length,
    endBy: async (count, onFirstReady) => {
      // The very first start, which makes tables and queues.
      await dieStarting(start());
      let life = start();
      await untilReady(life);
      const begun = onFirstReady();
      for (let left = count - 1; left > 0; left -= 1) {
        await (left < count - 1 && random.chance(0.4) ? dieStarting : dieWorking)(life);
        life = start();
      }
      await untilReady(life);
      return begun;
    },
    stop: async () => {
      await all.at(-1)?.stop();
    },
  };
};

/** @returns the time of the start (ms). @throws Error with the output, if the process ended instead */
const untilReady = async (life: Life): Promise<number> => {
  const took = await life.ready;
  if (took === undefined) throw new Error(`the runtime ${await life.failed}`);
  return took;
};
