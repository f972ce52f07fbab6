/** What goes wrong, how often, and the gate that makes it so. */
import type { Millis } from '../batching/ids.ts';
import type { Gate } from './gate.ts';
import type { Random } from './random.ts';
import type { Scheduler } from './scheduler.ts';

/** Probabilities per call on a port, unless they say otherwise. */
export interface FaultRates {
  /** The function dies: before the call, amid its effects or after them. */
  readonly crash: number;
  /** The function stops for longer than a lease, and then goes on. */
  readonly pause: number;
  /** The call fails and nothing happened. */
  readonly throttle: number;
  /** The call fails after some or all of it happened. */
  readonly lostReply: number;
  /** The reply is lost, and the client itself sends the request once more: the caller sees the second answer. */
  readonly repeat: number;
  /** Per delivery of a message: it comes a second time. */
  readonly duplicate: number;
  /** Per message handled: its deletion does not happen. */
  readonly undeleted: number;
  /** The most that a function's clock is off, either way. */
  readonly skew: Millis;
}

export const NO_FAULTS: FaultRates = {
  crash: 0,
  pause: 0,
  throttle: 0,
  lostReply: 0,
  repeat: 0,
  duplicate: 0,
  undeleted: 0,
  skew: 0,
};

/** How often each kind of fault happened. */
export type FaultCounts = Record<Exclude<keyof FaultRates, 'skew'>, number>;

export const noFaultCounts = (): FaultCounts => {
  const { skew: _, ...counts } = NO_FAULTS;
  return counts;
};

/** A call that failed; the step that made it fails with it and its message comes back. */
class InjectedFault extends Error {
  override readonly name = 'InjectedFault';
}

/** One run of a function: its clock, its deadline, and whether it still lives. */
export interface Process {
  readonly name: string;
  /** Which function it is a run of. */
  readonly function: string;
  readonly clockOffset: Millis;
  readonly endsAt: Millis;
  /** A paused sandbox is not stopped by the function's timeout. */
  outlivesTimeout: boolean;
}

export interface Chaos {
  readonly random: Random;
  readonly scheduler: Scheduler;
  readonly counts: FaultCounts;
  /** The functions that were paused: those that may have gone on after their time. */
  readonly paused: Set<string>;
  /** Asked at every call: faults end before the run does, so that it can come to rest. */
  rates(): FaultRates;
  trace(line: () => string): void;
}

/** The one call that no client repeats by itself. */
export const DOWNSTREAM_CALL = 'downstream.call';

/** Never resolves: a function that died does not go on. */
const death = (): Promise<never> => new Promise(() => {});

/** The gate of one process. */
export const faultyGate =
  (chaos: Chaos, process: Process): Gate =>
  async (call, effects) => {
    const { random, scheduler, trace } = chaos;
    const hit = (kind: keyof FaultCounts): boolean => {
      const happens = random.chance(chaos.rates()[kind]);
      if (happens) {
        chaos.counts[kind] += 1;
        trace(() => `${process.name} ${call}: ${kind}`);
      }
      return happens;
    };
    const live = async (span: Millis): Promise<void> => {
      await scheduler.wait(span);
      if (hit('pause')) {
        process.outlivesTimeout = true;
        chaos.paused.add(process.function);
        await scheduler.wait(random.int(20_000, 200_000));
      }
      if (hit('crash') || (scheduler.now > process.endsAt && !process.outlivesTimeout)) await death();
    };
    const fail = (how: string): never => {
      throw new InjectedFault(`${call}: ${how}`);
    };

    const request = async (): Promise<ReturnType<(typeof effects)[number]>[]> => {
      await live(random.int(0, 20));
      if (hit('throttle')) fail('throttled');
      const answers: ReturnType<(typeof effects)[number]>[] = [];
      for (const effect of effects) {
        if (answers.length > 0) {
          if (random.chance(0.2)) await live(random.int(0, 5));
          if (hit('throttle')) fail('throttled half-way');
        }
        answers.push(effect());
      }
      trace(() => `${process.name} ${call} → ${JSON.stringify(answers)?.slice(0, 300)}`);
      await live(random.int(0, 5));
      return answers;
    };
    const first = await request();
    // AWS clients repeat what was not answered, calls downstream are not repeated by theirs.
    const answers = call !== DOWNSTREAM_CALL && hit('repeat') ? await request() : first;
    if (hit('lostReply')) fail('reply lost');
    return answers;
  };
