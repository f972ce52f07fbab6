/** Runs one load against a local stack: sends one message per request, and measures what arrives at the downstream. */
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { Millis } from '../../src/domain/ids.ts';
import { type ReceivedCall, startTestDownstream } from '../../test/factories/downstream.ts';
import { type Line, openLine } from './line.ts';
import { type Load, MAX_SIZE, MAX_WAIT } from './loads.ts';
import { type Measures, measure, type Sent } from './measures.ts';

/** The most send requests in flight at once. */
const SENDS_AT_ONCE = 64;
/** The time without a new call after which the missing tasks count as lost, in milliseconds. */
const PATIENCE: Millis = 120_000;

export interface Ran extends Measures {
  readonly load: Load;
  /** The load of the machine in the minute before the run, according to the operating system. */
  readonly machineLoad: number;
  readonly errors: readonly string[];
}

/** @param checkout the folder of the version of Groupage to run: this one or another checkout */
export const run = async (load: Load, checkout: string): Promise<Ran> => {
  const [machineLoad = 0] = loadavg();
  const downstream = await startTestDownstream();
  const stack = fork(join(checkout, 'bench/sustained/stack.ts'), [configAt(downstream.url)], { execArgv: [] });
  const [{ sqs, queue }] = (await once(stack, 'message')) as [{ sqs: string; queue: string }];
  const loops = Array.from({ length: load.busyLoops }, () => spawn(process.execPath, ['-e', 'for (;;);']));
  try {
    const sentAt = await send(load, sqs, queue);
    await arrived(load, downstream.calls);
    return { load, machineLoad, ...measure(sentAt, downstream.calls), ...(await stopped(stack)) };
  } finally {
    for (const each of [...loops, stack]) each.kill('SIGKILL');
    await downstream.stop();
  }
};

const configAt = (url: string): string =>
  JSON.stringify({
    operations: {
      ship: {
        target: ['depot'],
        batch: { maxSize: MAX_SIZE, maxWait: `${MAX_WAIT}ms` },
        downstream: { kind: 'http', url },
      },
    },
  });

/** Sends the tasks. @returns for each task, by id, the time at which its send request began */
const send = async ({ sends }: Load, endpoint: string, QueueUrl: string): Promise<ReadonlyMap<string, Sent>> => {
  const sentAt = new Map<string, Sent>();
  const from = Date.now();
  let next = 0;
  /** Each line sends the next task as soon as it is due. */
  const sendAlong = async (line: Line): Promise<void> => {
    for (let n = next++; n < sends.length; n = next++) {
      const { at, target } = sends[n] as Load['sends'][number];
      while (from + at > Date.now()) await setTimeout(Math.max(0, from + at - Date.now()));
      const id = `task-${n}`;
      const MessageBody = JSON.stringify({ id, operation: 'ship', payload: { depot: `D${target}`, n } });
      sentAt.set(id, { at: Date.now(), target });
      await line.post('AmazonSQS.SendMessage', JSON.stringify({ QueueUrl, MessageBody }));
    }
    line.close();
  };
  const lines = await Promise.all(Array.from({ length: SENDS_AT_ONCE }, () => openLine(new URL(endpoint))));
  await Promise.all(lines.map(sendAlong));
  return sentAt;
};

const arrived = async ({ sends }: Load, calls: readonly ReceivedCall[]): Promise<void> => {
  let [known, since] = [0, Date.now()];
  while (Date.now() - since < PATIENCE) {
    const count = calls.reduce((sum, { items }) => sum + items.length, 0);
    if (count >= sends.length) return;
    if (count > known) [known, since] = [count, Date.now()];
    await setTimeout(50);
  }
};

const stopped = async (stack: ChildProcess): Promise<Pick<Ran, 'errors'>> => {
  stack.send('stop');
  const [said] = (await once(stack, 'message')) as [Pick<Ran, 'errors'>];
  await once(stack, 'exit');
  return said;
};
