/**
 * Ends each request of a function before the function's own time is over. A request without an answer then costs the
 * message that it is for, and no other: the function still reports which messages failed.
 *
 * The clients know which invocation they are called in, so that no adapter has to pass it on. What the error says of the
 * request is what a lost reply says: whether the service did it is not known.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Millis } from '../domain/ids.ts';
import { AWS_CALL, AWS_TRY, timeForCall } from '../domain/timings.ts';
import { type Invocation, TimeIsUp, within } from '../ports/machine.ts';

const running = new AsyncLocalStorage<Invocation>();

/** Does some work as part of an invocation. Several may run in one process. */
export const inInvocation = <T>(invocation: Invocation, work: () => T): T => running.run(invocation, work);

/** How long a request, or a pause before one, may take now. Infinity outside of invocations. */
export const callTime = (most: Millis = AWS_CALL): Millis => {
  const invocation = running.getStore();
  return invocation ? timeForCall(invocation.timeLeft(), most) : Number.POSITIVE_INFINITY;
};

/** A try without an answer is given up, and repeated. Throttled tries are answered at once: the client pauses after each. */
export const TRIES = {
  maxAttempts: 5,
  requestHandler: { connectionTimeout: AWS_TRY, requestTimeout: AWS_TRY, throwOnRequestTimeout: true },
} as const;

/** What is used of a client of AWS's SDK. */
interface Sender {
  readonly send: unknown;
  readonly config: { readonly serviceId: string };
}
type Send = (command: object, options?: { readonly abortSignal?: AbortSignal }) => Promise<unknown>;

/**
 * A client whose requests end in time. Outside of invocations they are as they were.
 *
 * @param most how long a request may take with all of its tries, however much time is left. @default {@link AWS_CALL}
 * @returns the same client, whose `send` rejects with TimeIsUp as well
 */
export const timed = <C extends Sender>(client: C, most?: Millis): C => {
  const send = (client.send as Send).bind(client);
  const { serviceId } = client.config;
  const sendInTime: Send = async (command, options) => {
    const limit = callTime(most);
    if (limit === Number.POSITIVE_INFINITY) return send(command, options);
    if (limit <= 0) throw new TimeIsUp(0, serviceId);
    const asked = options?.abortSignal;
    return within(
      limit,
      (over) => send(command, { ...options, abortSignal: asked ? AbortSignal.any([asked, over]) : over }),
      serviceId,
    );
  };
  return Object.assign(client, { send: sendInTime });
};
