/** Sends the loads of a run one after the other, and waits until their tasks were in calls. */
import { setTimeout } from 'node:timers/promises';
import type { SQSClient } from '@aws-sdk/client-sqs';
import type { Config } from '../../../src/domain/config/resolved.ts';
import type { Millis } from '../../../src/domain/ids.ts';
import { MINUTE } from '../../../src/domain/timings.ts';
import { count, span } from '../../simulate/figures.ts';
import type { Options } from '../options.ts';
import type { CallLog } from './call-log.ts';
import { LOADS, type LoadName, sizesOf, tasksOf } from './plan.ts';
import { type Sent, send } from './send.ts';
import { minutesAround, type Span } from './span.ts';

export interface LoadsOn {
  readonly sqs: SQSClient;
  readonly registerQueueUrl: string;
  readonly log: CallLog;
  readonly config: Config;
  readonly options: Options;
  /** Called before each load. */
  readonly beforeLoad: () => Promise<void>;
  /** Why no more tasks may be sent. Undefined while they may. */
  readonly stopReason: () => string | undefined;
  readonly onSent: (load: LoadName, tasks: number) => void;
}

/** A load that was sent. */
export interface Ran {
  readonly load: LoadName;
  readonly sent: readonly Sent[];
  /** Why the load ended early. Undefined if it did not. */
  readonly cutShort: string | undefined;
  readonly span: Span;
}

/** Without a further call for this long, the missing tasks count as lost. */
const PATIENCE: Millis = 15 * MINUTE;

/** @throws CommandFailure if SQS does not accept a task */
export const runLoads = async (on: LoadsOn): Promise<readonly Ran[]> => {
  const rans: Ran[] = [];
  for (const load of LOADS) {
    if (sizesOf(on.options)[load] === 0) continue;
    // A load that may not begin is shown too: without it, the run would look complete.
    if (on.stopReason() === undefined) await on.beforeLoad();
    rans.push(await runLoad(load, on));
  }
  return rans;
};

const runLoad = async (load: LoadName, on: LoadsOn): Promise<Ran> => {
  const { sqs, registerQueueUrl, config, options, log } = on;
  const from = Date.now();
  console.log(`Sending about ${count(sizesOf(options)[load])} tasks (${load}) …`);
  const sent = await send(tasksOf(load, options, config), {
    sqs,
    queueUrl: registerQueueUrl,
    mayContinue: () => on.stopReason() === undefined,
    onSent: (tasks) => on.onSent(load, tasks),
  });
  const cutShort = on.stopReason() ?? (sent.length === 0 ? 'it had no task' : undefined);
  console.log(`${count(sent.length)} tasks sent in ${span(Date.now() - from)}. Waiting until each was in a call …`);
  await untilCalled(sent, log);
  return { load, sent, cutShort, span: minutesAround(from, Date.now()) };
};

const untilCalled = async (sent: readonly Sent[], log: CallLog): Promise<void> => {
  let [known, since] = [0, Date.now()];
  while (Date.now() - since < PATIENCE) {
    const called = log.count(sent);
    if (called === sent.length) return;
    if (called > known) [known, since] = [called, Date.now()];
    await setTimeout(1_000);
  }
};
