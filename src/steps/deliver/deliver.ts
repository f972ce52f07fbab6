/**
 * Deliver: sends events to their destinations. Only the callback function does this. If a delivery fails, SQS delivers
 * the event's message again after a growing delay. So a destination cannot change the result of a task, and cannot
 * delay a batch or an event for another destination.
 */

import {
  type CallbackMessage,
  happenedAt,
  isGivenUp,
  parseCallback,
  unknownDestination,
} from '../../domain/callbacks/callback.ts';
import { leaving } from '../../domain/callbacks/event.ts';
import { type Destination, EVENT_MAX_BYTES } from '../../domain/config/endpoints.ts';
import { NewerMessage } from '../../domain/messages.ts';
import { CALLBACK_CHANCES } from '../../domain/timings.ts';
import type { PutOff } from '../../ports/callbacks.ts';
import { TooLarge } from '../../ports/callbacks.ts';
import { type Problem, reasonOf } from '../../util/problems.ts';
import { type Because, type DeliverDeps, delayOf, deliverTo, type Outcome } from './deliver-to.ts';

/** A message of the callback queue. */
interface Message {
  readonly messageId: string;
  readonly body: string;
  /** Receipt handle of this delivery. */
  readonly receipt: string;
  /** How often the message was received, including this time. */
  readonly receives: number;
}

/** A message with an event for a configured destination. */
type Addressed<M> = CallbackMessage & { readonly message: M; readonly destination: Destination };

/** A message whose event was not delivered, and why. */
interface NotDone<M> {
  readonly message: M;
  readonly outcome: Exclude<Outcome, { readonly kind: 'delivered' }>;
}

/**
 * Delivers the events of one invocation.
 *
 * @param onFailure is called with each message that failed.
 * @returns the messages that SQS must deliver again. The delay of each of them has been set.
 */
export const deliverAll = async <M extends Message>(
  deps: DeliverDeps,
  messages: readonly M[],
  onFailure: (message: M, cause: unknown) => void,
): Promise<readonly M[]> => {
  const failed = (message: M, cause: unknown): NotDone<M> => {
    onFailure(message, cause);
    return { message, outcome: { kind: 'failed', cause } };
  };
  const notDone: NotDone<M>[] = [];
  const addressed: Addressed<M>[] = [];
  await Promise.all(
    messages.map(async (message) => {
      try {
        const found = destinationIn(deps, message.body);
        if ('problem' in found) await reject(deps, message, found.problem);
        else addressed.push({ ...found, message });
      } catch (cause) {
        notDone.push(failed(message, cause));
      }
    }),
  );
  const groups = [...Map.groupBy(addressed, ({ to }) => to).values()];
  const left = await Promise.all(groups.map((group) => deliverGroup(deps, group, failed)));
  return comeBack(deps, [...notDone, ...left.flat()]);
};

const reject = async (deps: DeliverDeps, { messageId, body }: Message, problem: Problem): Promise<void> => {
  await deps.queues.reject([{ messageId, body, problems: [problem], at: deps.machine.now(), queue: 'callback' }]);
  deps.report({ event: 'rejected', messages: 1, reasons: [problem.reason] });
};

/** The destination of an event, or why it has none. */
type Found = { readonly problem: Problem } | (CallbackMessage & { readonly destination: Destination });

const destinationIn = ({ config }: DeliverDeps, body: string): Found => {
  let message: CallbackMessage;
  try {
    message = parseCallback(body);
  } catch (cause) {
    if (cause instanceof NewerMessage) throw cause;
    return { problem: { path: '', reason: `callback queue: ${reasonOf(cause)}` } };
  }
  const destination = Object.hasOwn(config.destinations, message.to) ? config.destinations[message.to] : undefined;
  return destination ? { ...message, destination } : { problem: unknownDestination(config, message.to) };
};

/** Delivers the events for one destination. */
const deliverGroup = async <M extends Message>(
  deps: DeliverDeps,
  group: readonly Addressed<M>[],
  failed: (message: M, cause: unknown) => NotDone<M>,
): Promise<readonly NotDone<M>[]> => {
  const [{ to, destination }] = group as readonly [Addressed<M>];
  const deliver = (event: Addressed<M>, signal?: AbortSignal): Promise<void> => deliverOne(deps, event, signal);
  // Destinations that are AWS services respond quickly, so they need no share.
  const outcomes =
    destination.kind === 'http'
      ? await deliverTo(deps, { name: to, timeout: destination.timeout, isAlone: isAlone(deps), deliver }, group)
      : await Promise.all(group.map((event) => outcomeOf(deliver(event))));
  const events = outcomes.filter(({ kind }) => kind === 'delivered').length;
  if (events > 0) deps.report({ event: 'delivered', destination: to, events });
  const notDone = group.flatMap(({ message }, index): NotDone<M>[] => {
    const outcome = outcomes[index] as Outcome;
    if (outcome.kind === 'delivered') return [];
    if (outcome.kind === 'put-off') return [{ message, outcome }];
    deps.report({ event: 'not-delivered', destination: to, cause: reasonOf(outcome.cause) });
    return [failed(message, outcome.cause)];
  });
  reportWaiting(deps, to, group, notDone);
  return notDone;
};

const isAlone = ({ config }: DeliverDeps): boolean => Object.keys(config.destinations).length === 1;

const outcomeOf = (delivery: Promise<void>): Promise<Outcome> =>
  delivery.then(
    () => ({ kind: 'delivered' }),
    (cause: unknown) => ({ kind: 'failed', cause }),
  );

/**
 * Reports how long undelivered events have waited. The alarm on undelivered events uses this age, because it is
 * reported even if events are rare.
 */
const reportWaiting = <M extends Message>(
  { machine, report }: DeliverDeps,
  destination: string,
  group: readonly Addressed<M>[],
  notDone: readonly NotDone<M>[],
): void => {
  if (notDone.length === 0) return;
  const waiting = new Set(notDone.map(({ message }) => message));
  const oldest = Math.min(...group.filter(({ message }) => waiting.has(message)).map(happenedAt));
  const because = (of: Because): number => notDone.filter(({ outcome }) => becauseOf(outcome) === of).length;
  report({
    event: 'put-off',
    destination,
    events: notDone.length,
    uncalled: because('no-slot') + because('circuit-open'),
    waited: Math.max(0, machine.now() - oldest),
  });
};

const becauseOf = (outcome: NotDone<unknown>['outcome']): Because =>
  outcome.kind === 'failed' ? 'failed' : outcome.because;

/**
 * Delivers one event. If the destination refuses it for its size, the event is sent again without its result, which can
 * be read through the API.
 */
const deliverOne = async (
  { stack, wayTo, report, machine }: DeliverDeps,
  { to, event, destination }: Addressed<unknown>,
  signal?: AbortSignal,
): Promise<void> => {
  const way = wayTo(destination);
  const began = machine.now();
  const whole = leaving(event, stack, EVENT_MAX_BYTES[destination.kind]);
  try {
    await way(whole, signal);
  } catch (cause) {
    if (!(cause instanceof TooLarge)) throw cause;
    const small = leaving(event, stack, 0);
    if (small.text === whole.text) throw cause;
    // Both calls together may take the time limit of one call. The function's timeout and the slot's duration are sized
    // for one call.
    const left = destination.kind === 'http' ? destination.timeout - (machine.now() - began) : undefined;
    const again = () => way(small, signal);
    await (left === undefined ? again() : machine.within(Math.max(0, left), again));
    report({ event: 'result-omitted', destination: to, bytes: Buffer.byteLength(whole.text), cause: reasonOf(cause) });
  }
};

/**
 * Gives up events that are too old, and sets delays for the other events. @returns the messages that SQS must deliver
 * again.
 */
const comeBack = async <M extends Message>(
  deps: DeliverDeps,
  notDone: readonly NotDone<M>[],
): Promise<readonly M[]> => {
  const back = (await Promise.all(notDone.map((each) => giveUp(deps, each)))).flat();
  if (back.length === 0) return [];
  try {
    const left = await deps.returns.putOff(back.map((each) => putOffOf(deps, each)));
    if (left.length > 0) deps.report({ event: 'not-put-off', messages: left.length });
  } catch (cause) {
    // SQS delivers the messages again anyway when their visibility timeout ends.
    deps.report({ event: 'not-put-off', messages: back.length, cause: String(cause) });
  }
  return back.map(({ message }) => message);
};

const putOffOf = ({ machine }: DeliverDeps, { message, outcome }: NotDone<Message>): PutOff => {
  const { messageId, receipt, receives } = message;
  const closed = outcome.kind === 'put-off' ? outcome.closed : 0;
  return { messageId, receipt, delay: delayOf({ because: becauseOf(outcome), receives, closed }, machine.random()) };
};

/**
 * Gives up an event that is too old. An event that was redriven gets a few deliveries, whatever its age.
 * @returns nothing for an event that was given up.
 */
const giveUp = async <M extends Message>(deps: DeliverDeps, each: NotDone<M>): Promise<readonly NotDone<M>[]> => {
  const { messageId, body, receives } = each.message;
  // An event that got no slot was not sent, so its age alone does not show that the destination refuses it. A slow
  // destination has many such events.
  if (receives < CALLBACK_CHANCES || becauseOf(each.outcome) === 'no-slot') return [each];
  try {
    if (!isGivenUp(body, deps.machine.now())) return [each];
    await deps.queues.giveUp([body]);
    deps.report({ event: 'given-up', destination: parseCallback(body).to, messageId });
    return [];
  } catch (cause) {
    deps.report({ event: 'not-given-up', messageId, cause: String(cause) });
    return [each];
  }
};
