/** What happened to each event, and what must hold of deliveries: of each event at its time, and of all of them once nothing is left to do. */

import { COOL_DOWN } from '../../src/domain/callbacks/share.ts';
import type { Millis } from '../../src/domain/ids.ts';
import { CALLBACK_PATIENCE, MINUTE, SECOND } from '../../src/domain/timings.ts';
import { START } from '../../src/virtual/trace.ts';
import { demand } from '../../src/virtual/violation.ts';
import type { DeliveryScenario, Receiver } from './scenario.ts';

/** One event. */
export interface Sent {
  readonly id: string;
  readonly to: string;
  /** When the task ended that it is about, and when it was put into the queue, or among the dead letters. */
  readonly about: Millis;
  readonly at: Millis;
  takenAt?: Millis;
  givenUpAt?: Millis;
}

/** When each event was sent, taken and given up, recorded apart from the code that is judged. */
export class Ledger {
  readonly sent = new Map<string, Sent>();
  /** When each destination was called. */
  readonly calls = new Map<string, Millis[]>();

  called(name: string, at: Millis): void {
    const calls = this.calls.get(name) ?? [];
    calls.push(at);
    this.calls.set(name, calls);
  }

  get open(): Sent[] {
    return [...this.sent.values()].filter(({ takenAt, givenUpAt }) => takenAt === undefined && givenUpAt === undefined);
  }
}

/** Within this a destination that is well gets an event, however many wait for others, where nothing goes wrong. */
const SOON: Millis = 10 * SECOND;
/** Within this a dead letter is sent again, likewise. */
const SWEPT: Millis = 3 * MINUTE;
/** Within this a destination that has recovered gets what waited for it: some of the longest delays, and the longest that a circuit stays open. */
const RECOVERED: Millis = 60 * MINUTE;
/** After this a circuit is open: some calls of one event after the other. */
const NOTICED: Millis = 8 * MINUTE;

export const checkGivenUp = ({ faults, receivers }: DeliveryScenario, sent: Sent | undefined, now: Millis): void => {
  demand(sent !== undefined, 'only events are given up', sent);
  if (!sent) return;
  demand(sent.about + CALLBACK_PATIENCE < now + 2 * faults.skew, 'no event is given up early', sent);
  const { recoversAt } = receivers.find(({ name }) => name === sent.to) as Receiver;
  const wasLeft = sent.about + CALLBACK_PATIENCE < START;
  demand(wasLeft || recoversAt === 'never', 'only what a destination does not take is given up', sent);
};

/** @param isCalm whether nothing went wrong @throws Violation */
export const checkDeliveriesAtRest = (scenario: DeliveryScenario, { sent, calls }: Ledger, isCalm: boolean): void => {
  for (const each of sent.values())
    demand(each.takenAt !== undefined || each.givenUpAt !== undefined, 'every event is delivered or given up', each);
  if (!isCalm) return;
  for (const each of sent.values()) checkInTime(scenario, each);
  for (const receiver of scenario.receivers) checkCalls(receiver, calls.get(receiver.name) ?? []);
};

const checkInTime = ({ receivers }: DeliveryScenario, sent: Sent): void => {
  const { manner, recoversAt } = receivers.find(({ name }) => name === sent.to) as Receiver;
  if (sent.takenAt === undefined || recoversAt === 'never') return;
  const took = sent.takenAt - sent.at;
  if (manner === 'quick') {
    const isDeadLetter = sent.at === START;
    demand(took <= (isDeadLetter ? SWEPT : SOON), 'an event for a healthy destination comes soon', { ...sent, took });
  } else
    demand(
      sent.takenAt - Math.max(sent.at, START + recoversAt) <= RECOVERED,
      'a destination that is back gets its events',
      sent,
    );
};

/** While it is down it is called once for each time that its circuit was open. */
const checkCalls = ({ manner, recoversAt, events, name }: Receiver, calls: readonly Millis[]): void => {
  if (manner !== 'hangs' && manner !== 'unavailable') return;
  const from = START + Math.max(...events) + NOTICED;
  const until = recoversAt === 'never' ? Number.POSITIVE_INFINITY : START + recoversAt;
  const down = calls.filter((at) => at >= from && at < until);
  const [first = 0, last = 0] = [down[0], down.at(-1)];
  const most = 1 + (last - first) / COOL_DOWN.first;
  demand(down.length <= most, 'a destination that is down is called seldom', { name, calls: down.length, most });
};
