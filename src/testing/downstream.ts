/** The test's own batch API in the form that the batch handler calls. */

import type { DownstreamTarget } from '../domain/config/endpoints.ts';
import { type Config, operationFor } from '../domain/config/resolved.ts';
import {
  type Answer,
  type Call,
  type Downstream,
  inFull,
  printEvent,
  reasonIn,
} from '../domain/downstream/downstream.ts';
import { type HttpCall, withUnfit, writeCall } from '../domain/downstream/http-request.ts';
import type { Millis } from '../domain/ids.ts';
import type { Life } from '../processes/process.ts';
import { InjectedFault } from '../virtual/faults.ts';
import { DOWNSTREAM_CALL } from '../virtual/faulty-gate.ts';
import { through } from '../virtual/gate.ts';
import { type Executions, executionEvent } from './execution.ts';
import { isTestFailure, TestbedMisused } from './failures.ts';
import { type InjectedAnswer, type Mishaps, spanOf } from './mishaps.ts';
import type { Pace } from './pace.ts';
import { jsonOf, type Reader, readerOf, withoutStatus } from './replies.ts';
import type { DownstreamAnswer, DownstreamFunction, ReceivedCall, ReceivedRequest } from './wire.ts';

/** A call that reached a downstream. */
export interface LoggedCall extends ReceivedCall {
  /** Time of the call, in virtual time. */
  readonly at: Date;
  /**
   * How the call's answer was read: `results`, `all-succeeded`, `pending`, or the reason why the call failed. Absent
   * while the call is in flight.
   */
  readonly answer?: string;
  /** Duration of the call, in milliseconds of virtual time. */
  readonly took?: Millis;
}

/** What all downstreams of a testbed share. */
export interface Downstreams {
  readonly config: Config;
  readonly functions: Readonly<Record<string, DownstreamFunction<never> | undefined>>;
  readonly pace: Pace;
  readonly mishaps: Mishaps;
  readonly calls: LoggedCall[];
  readonly executions: Executions;
  /** Sends a message to the batch queue. */
  readonly report: (body: string) => void;
}

/** The default downstream: all items succeed. */
const SILENT: DownstreamFunction = () => {};

export const bedDownstream = (world: Downstreams, { gate, function: fn }: Life): Downstream => ({
  call: async (call) => {
    let answer: Promise<Answer> | undefined;
    try {
      await through(gate, DOWNSTREAM_CALL, () => {
        answer = logged(world, call).catch((cause) => {
          world.pace.fail(cause);
          // The test has failed already, so the rest of this call does not matter. Never resolve.
          return new Promise<never>(() => {});
        });
      });
    } catch (cause) {
      if (!(cause instanceof InjectedFault)) throw cause;
      return { kind: 'unavailable', reason: String(cause), mayRetryAtOnce: true };
    }
    const said = await (answer as unknown as Promise<Answer>);
    await world.mishaps.after(fn, DOWNSTREAM_CALL);
    return said;
  },
});

const logged = async (world: Downstreams, call: Call): Promise<Answer> => {
  const { scheduler } = world.pace;
  const target = operationFor(world.config, call.operation).downstream;
  const written = target.kind === 'http' ? writeCall(target, call) : undefined;
  if (written && 'kind' in written) return written;
  const sent = written ? { ...call, items: written.items } : call;
  const request = written && target.kind === 'http' && target.request ? requestOf(written) : undefined;
  const asked: Asked = { call: sent, received: received(sent, request), target };
  const from = scheduler.now;
  const index = world.calls.push({ ...asked.received, at: new Date(from) }) - 1;
  const answer = await answerOf(world, asked);
  const said = inFull(reasonIn(answer));
  world.calls[index] = { ...(world.calls[index] as LoggedCall), answer: said, took: scheduler.now - from };
  return written ? withUnfit(answer, written.items, written.unfit) : answer;
};

/** A call, and what its receiver gets. */
interface Asked {
  readonly call: Call;
  readonly received: ReceivedCall;
  readonly target: DownstreamTarget;
}

const requestOf = ({ method, url, contentType, body }: HttpCall): ReceivedRequest => ({
  method,
  url,
  contentType,
  body,
});

/** The request in the form in which a receiver parses it. */
const received = (call: Call, request: ReceivedRequest | undefined): ReceivedCall => ({
  ...(JSON.parse(printEvent(call)) as ReceivedCall),
  ...(request ? { request } : {}),
});

const answerOf = async (world: Downstreams, asked: Asked): Promise<Answer> => {
  const { scheduler } = world.pace;
  const { call, target } = asked;
  const reader = readerOf(target, call, () => scheduler.now);
  const instead = world.mishaps.answerFor(call.operation);
  const own = ownOf(instead) ?? world.functions[call.operation] ?? SILENT;
  const tooLate = () => scheduler.wait(target.timeout).then(() => reader.late());
  const answer = () => Promise.race([ask(world, own as DownstreamFunction, asked, reader), tooLate()]);
  switch (instead) {
    case 'timeout':
      return tooLate();
    case 'network-error':
      return reader.unreachable(new Error('connection refused'));
    case 'reply-lost':
      await answer();
      return reader.unreachable(new Error('connection reset'));
    default:
      return answer();
  }
};

/** The function that a mishap sets in place of the test's own downstream, if any. */
const ownOf = (instead: InjectedAnswer | undefined): DownstreamFunction<never> | undefined => {
  if (instead === undefined || typeof instead === 'string') return undefined;
  return typeof instead === 'function' ? instead : () => instead;
};

/** Calls the test's own function. */
const ask = async (world: Downstreams, own: DownstreamFunction, asked: Asked, reader: Reader): Promise<Answer> => {
  if (asked.target.kind !== 'step-functions') return read(world, await outcome(world, own, asked.received), reader);
  execute(world, own, asked.call);
  return reader.answered(undefined);
};

/** Starts an execution. It continues after this call, and then reports its end. */
const execute = (world: Downstreams, own: DownstreamFunction, asked: Call): void => {
  const call = world.executions.start(asked);
  if (!call) return;
  outcome(world, own, received(call, undefined))
    .then((end) => {
      world.executions.end(call);
      world.report(executionEvent(call, 'threw' in end ? end : { said: jsonOf(withoutStatus(end.said ?? {})) }));
    })
    .catch((cause) => world.pace.fail(cause));
};

type Outcome = { readonly said: DownstreamAnswer } | { readonly threw: unknown };

const read = async ({ pace }: Downstreams, end: Outcome, reader: Reader): Promise<Answer> =>
  // Reading a Response takes real time.
  pace.outside('an answer', async () => ('threw' in end ? reader.threw(end.threw) : reader.answered(end.said)));

const outcome = async ({ pace }: Downstreams, own: DownstreamFunction, call: ReceivedCall): Promise<Outcome> => {
  try {
    const work = (takes: (span: Millis) => Promise<void>) => own({ ...call, takes: (span) => takes(spanOf(span)) });
    return { said: await pace.outside(`the downstream of ${call.operation}`, work) };
  } catch (cause) {
    // A failed assertion of the test must not be read as a network error.
    if (isTestFailure(cause) || cause instanceof TestbedMisused) throw cause;
    return { threw: cause };
  }
};
