/** The gate of one invocation of a function. It injects the faults that chaos draws. */
import type { Millis } from '../domain/ids.ts';
import { AWS_CALL, AWS_TRY } from '../domain/timings.ts';
import type { Chaos } from './chaos.ts';
import { type FaultKind, InjectedFault } from './faults.ts';
import type { Gate } from './gate.ts';
import type { Random } from './random.ts';
import { brief } from './trace.ts';
import { Violation } from './violation.ts';

/** One invocation of a function, with its clock and its deadline. */
export interface Process {
  readonly name: string;
  /** The name of the function. */
  readonly function: string;
  readonly random: Random;
  readonly clockOffset: Millis;
  readonly endsAt: Millis;
  /** Whether the function's timeout no longer ends this invocation, because its sandbox was paused. */
  outlivesTimeout: boolean;
}

/** The only call that is not repeated by its client. */
export const DOWNSTREAM_CALL = 'downstream.call';

/**
 * Possible times after which a client gives up on a call during an outage, in ms: at once, after some refusals, or
 * after all attempts have run out of time.
 */
const UNTIL_GIVEN_UP: readonly Millis[] = [0, 0, 500, 7_000, 20_000];

/** Upper bounds for the time between a client's giving up on a request and the effect of that request, in ms. */
const MOMENTS: readonly Millis[] = [100, 1_000, 10_000];

/** Calls that the adapters make as transactions. Each call returns whether it was written. */
const TRANSACTIONS = new Set(['fanOuts.reserve', 'lists.publish', 'lists.take']);

/** Whether the call sends a message, which a function may receive before the sender's next write. */
const isSend = (call: string): boolean => call.startsWith('queues.') || call === 'deadLetters.redrive';

/** Never resolves, because a dead function makes no further call. */
const death = (): Promise<never> => new Promise(() => {});

/**
 * A random order of effects, by Fisher-Yates shuffle. The effects of a call are parallel requests that fail
 * independently. If the call fails, any subset of the effects may therefore have happened, not only the first ones.
 */
const anyOrder = (count: number, random: Random): number[] => {
  const order = Array.from({ length: count }, (_, index) => index);
  for (let last = count - 1; last > 0; last -= 1) {
    const other = random.int(0, last);
    [order[last], order[other]] = [order[other] as number, order[last] as number];
  }
  return order;
};

export const faultyGate = (chaos: Chaos, process: Process): Gate => {
  const { scheduler, trace } = chaos;
  const { name, random } = process;
  const hit = (kind: FaultKind): boolean => chaos.happens(kind, name);
  const fault = (call: string, why: string): InjectedFault => {
    chaos.hindered.add(name);
    if (isSend(call)) chaos.unsent.add(name);
    return new InjectedFault(`${call}: ${why}`);
  };

  /**
   * The time that a call may take. An invocation that stood still may continue beyond its deadline, because its clock
   * may have stood still too.
   */
  const timeForCall = (): Millis =>
    process.outlivesTimeout ? AWS_CALL : chaos.timeForCall(process.endsAt - scheduler.now);

  const live = async (span: Millis): Promise<void> => {
    await scheduler.wait(span);
    // The invocation may have died meanwhile, in a parallel request.
    if (chaos.died.has(name)) await death();
    const pause = chaos.fault('pause', name);
    if (pause) {
      process.outlivesTimeout = true;
      chaos.paused.add(process.function);
      await scheduler.wait(pause.int(20_000, 200_000));
    }
    const isLate = scheduler.now > process.endsAt && !process.outlivesTimeout;
    if (hit('crash') || isLate) {
      chaos.died.add(name);
      if (isLate) {
        trace(() => `${name}  the platform ends it at the function's timeout`);
        chaos.late.add(name);
      }
      await death();
    }
  };

  /** Lets a request take effect later, when its caller has got an error or has died. */
  const happensLater = (call: string, effects: readonly (() => unknown)[], late: Random, delay: Millis): void =>
    scheduler.after(delay, () => {
      if (chaos.isDown(call)) return;
      for (const index of anyOrder(effects.length, late)) {
        try {
          const answer = (effects[index] as () => unknown)();
          trace(() => `${name}  ${call} takes effect after the client gave up → ${brief(answer)}`);
        } catch (cause) {
          chaos.onViolation(
            new Violation('a step fails only because of an injected fault', { who: name, cause: String(cause) }),
          );
        }
      }
    });

  /**
   * Lets the client give up on a request, if chaos says so.
   * @throws InjectedFault unless the client repeats the request
   */
  const giveUp = async (call: string, effects: readonly (() => unknown)[]): Promise<void> => {
    const late = call === DOWNSTREAM_CALL ? undefined : chaos.fault('afterwards', `${name} giving up`);
    if (!late) return;
    const asksAgain = late.chance(0.5);
    happensLater(call, effects, late, AWS_TRY + late.int(0, late.pick(MOMENTS)));
    await live(Math.min(AWS_TRY, timeForCall()));
    if (!asksAgain) throw fault(call, 'given up');
  };

  /**
   * A request that gets no answer.
   * @throws InjectedFault
   */
  const hang = async (call: string, effects: readonly (() => unknown)[], hung: Random): Promise<never> => {
    const span = timeForCall();
    if (hung.chance(0.5)) happensLater(call, effects, hung, hung.int(0, Math.round(span)));
    await live(span);
    throw fault(call, 'no answer');
  };

  const request = async <T>(call: string, effects: readonly (() => T)[]): Promise<T[]> => {
    await live(random.int(0, 20));
    if (hit('throttle')) throw fault(call, 'throttled');
    if (chaos.isDown(call)) {
      // During an outage, most clients retry, or wait for an answer.
      await live(Math.min(random.pick(UNTIL_GIVEN_UP), timeForCall()));
      throw fault(call, 'down');
    }
    if (TRANSACTIONS.has(call) && chaos.happens('conflict', `${name} in a transaction`)) return [false as T];
    const answers: T[] = [];
    for (const [turn, index] of anyOrder(effects.length, random).entries()) {
      if (turn > 0) {
        if (random.chance(0.2)) await live(random.int(0, 5));
        if (hit('partial')) throw fault(call, 'failed half-way');
      }
      answers[index] = (effects[index] as () => T)();
    }
    trace(() => `${name}  ${call} → ${brief(answers.length === 1 ? answers[0] : answers)}`);
    await live(random.int(0, 5));
    return answers;
  };

  return async (call, effects) => {
    if (call !== DOWNSTREAM_CALL) {
      if (timeForCall() <= 0) {
        // Do not mark the invocation as `unsent`: a lack of time is no excuse for a message that was not sent.
        for (const each of [chaos.outOfTime, chaos.hindered]) each.add(name);
        throw new InjectedFault(`${call}: no time left`);
      }
      const hung = chaos.fault('hang', `${name} hanging`);
      if (hung) return hang(call, effects, hung);
    }
    await giveUp(call, effects);
    const first = await request(call, effects);
    // AWS clients repeat a request that got no answer. The downstream's client does not.
    const answers = call !== DOWNSTREAM_CALL && hit('repeat') ? await request(call, effects) : first;
    if (hit('lostReply')) throw fault(call, 'reply lost');
    // This delay is longer than a poll for the message and the read that follows the poll.
    if (isSend(call)) await scheduler.wait(chaos.fault('overtaken', `${name} sending`)?.int(50, 1_000) ?? 0);
    return answers;
  };
};
