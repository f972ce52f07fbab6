/**
 * Records each event, and checks the promises about deliveries. No event is given up too early. Every event is
 * delivered or given up. A healthy destination gets its events soon, however many other destinations fail. A failed
 * destination is called seldom.
 */

import { COOL_DOWN } from '../../src/domain/callbacks/share.ts';
import type { Millis } from '../../src/domain/ids.ts';
import { CALLBACK_PATIENCE, MINUTE, SECOND } from '../../src/domain/timings.ts';
import { START } from '../../src/virtual/trace.ts';
import { demand } from '../../src/virtual/violation.ts';
import type { DeliveryScenario, Receiver } from './scenario.ts';

/** An event for a destination. */
export interface Sent {
  readonly id: string;
  readonly to: string;
  /** `about`: when the event's task ended. `at`: when the event was put into the queue or among the dead letters. */
  readonly about: Millis;
  readonly at: Millis;
  takenAt?: Millis;
  givenUpAt?: Millis;
}

/** Records when each event was sent, taken and given up, without the code under test. */
export class Ledger {
  readonly sent = new Map<string, Sent>();
  /** The times of the calls to each destination. */
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

/**
 * The time within which a healthy destination gets an event without faults, however many events wait for other
 * destinations.
 */
const SOON: Millis = 10 * SECOND;
/** The time within which a dead letter is redriven without faults. */
const SWEPT: Millis = 3 * MINUTE;
/**
 * The time within which a recovered destination gets its waiting events: several of the longest delays, and the longest
 * time for which a circuit stays open.
 */
const RECOVERED: Millis = 60 * MINUTE;
/** The time after which failures have opened a circuit: some calls about one event, one after another. */
const NOTICED: Millis = 8 * MINUTE;

export const checkGivenUp = ({ faults, receivers }: DeliveryScenario, sent: Sent | undefined, now: Millis): void => {
  demand(sent !== undefined, 'only events are given up', sent);
  if (!sent) return;
  demand(sent.about + CALLBACK_PATIENCE < now + 2 * faults.skew, 'no event is given up early', sent);
  const { recoversAt } = receivers.find(({ name }) => name === sent.to) as Receiver;
  const wasLeft = sent.about + CALLBACK_PATIENCE < START;
  demand(wasLeft || recoversAt === 'never', 'only events for destinations that never recover are given up', sent);
};

/**
 * @param isCalm whether no fault occurred
 * @throws Violation
 */
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
    demand(took <= (isDeadLetter ? SWEPT : SOON), 'an event for a healthy destination is delivered soon', {
      ...sent,
      took,
    });
  } else
    demand(
      sent.takenAt - Math.max(sent.at, START + recoversAt) <= RECOVERED,
      'a destination that has recovered gets its events',
      sent,
    );
};

/** While a destination is down, each time that its circuit has been open allows one call. */
const checkCalls = ({ manner, recoversAt, events, name }: Receiver, calls: readonly Millis[]): void => {
  if (manner !== 'hangs' && manner !== 'unavailable') return;
  const from = START + Math.max(...events) + NOTICED;
  const until = recoversAt === 'never' ? Number.POSITIVE_INFINITY : START + recoversAt;
  const down = calls.filter((at) => at >= from && at < until);
  const [first = 0, last = 0] = [down[0], down.at(-1)];
  const most = 1 + (last - first) / COOL_DOWN.first;
  demand(down.length <= most, 'a failed destination is called seldom', { name, calls: down.length, most });
};
