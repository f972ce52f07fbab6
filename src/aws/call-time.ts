/**
 * Ends each AWS request of a function before the function's own time is over. A request without an answer then fails
 * only the messages that depend on it, because the function can still report which messages failed.
 *
 * The clients find the current invocation in asynchronous context, so no adapter has to pass it on. The error means the
 * same as a lost reply: the service may have done the request.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Millis } from '../domain/ids.ts';
import { AWS_CALL, AWS_TRY, timeForCall } from '../domain/timings.ts';
import { type Invocation, TimeIsUp, within } from '../ports/machine.ts';

const running = new AsyncLocalStorage<Invocation>();

/** Runs `work` as part of an invocation. Several invocations may run in one process. */
export const inInvocation = <T>(invocation: Invocation, work: () => T): T => running.run(invocation, work);

/**
 * Longest time that a request, or a pause before a request, may take now, in milliseconds. Infinity outside of
 * invocations.
 */
export const callTime = (most: Millis = AWS_CALL): Millis => {
  const invocation = running.getStore();
  return invocation ? timeForCall(invocation.timeLeft(), most) : Number.POSITIVE_INFINITY;
};

/**
 * Limits for the attempts of a request. An attempt without an answer is ended and repeated. A throttled attempt is
 * answered at once, and the client pauses before the next attempt.
 */
export const TRIES = {
  maxAttempts: 5,
  requestHandler: { connectionTimeout: AWS_TRY, requestTimeout: AWS_TRY, throwOnRequestTimeout: true },
} as const;

/** The parts of an AWS SDK client that are used here. */
interface Sender {
  readonly send: unknown;
  readonly config: { readonly serviceId: string };
}
type Send = (command: object, options?: { readonly abortSignal?: AbortSignal }) => Promise<unknown>;

/**
 * Makes a client's requests end in time. Outside of invocations, requests are unchanged.
 *
 * @param most longest time of a request including all of its attempts, in milliseconds, even if the function has more
 * time left. @default {@link AWS_CALL}
 * @returns the same client; its `send` may also reject with TimeIsUp
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
