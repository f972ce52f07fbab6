/** Sends the tasks of a load to the register queue, as a producer does: at their times, up to ten in a request. */
import { setTimeout } from 'node:timers/promises';
import { SendMessageBatchCommand, type SQSClient } from '@aws-sdk/client-sqs';
import pLimit from 'p-limit';
import type { Millis } from '../../../src/domain/ids.ts';
import { CommandFailure } from '../../failure.ts';
import type { Arrival } from '../../simulate/trace.ts';

/** A task that was sent. */
export interface Sent extends Arrival {
  readonly id: string;
  /** When its request began, by this machine's clock. SQS may have accepted it in a later try of the request. */
  readonly sentAt: Millis;
}

export interface Sending {
  readonly sqs: SQSClient;
  readonly queueUrl: string;
  /** Whether to go on: false ends the load early. */
  readonly mayContinue: () => boolean;
  readonly onSent?: (tasks: number) => void;
}

/** Messages of a request, and requests at once. */
const GROUP = 10;
const REQUESTS_AT_ONCE = 64;
/** Tasks whose times differ by less are sent in one request. */
const TOGETHER: Millis = 50;
/** Tries of an entry that SQS did not accept, and the pause between them. */
const TRIES = 8;
const PAUSE: Millis = 500;

/** @returns the sent tasks, in the order of their requests. @throws CommandFailure if SQS does not accept a task */
export const send = async (tasks: Iterable<Arrival>, sending: Sending): Promise<readonly Sent[]> => {
  const limit = pLimit(REQUESTS_AT_ONCE);
  const sent: Sent[] = [];
  const open = new Set<Promise<void>>();
  let failure: unknown;
  let number = 0;
  const from = Date.now();
  for (const group of groupsOf(tasks)) {
    const due = from + (group.at(-1)?.at ?? 0);
    // In parts, so that an interrupted load ends soon.
    while (due > Date.now() && sending.mayContinue()) await setTimeout(Math.min(1_000, due - Date.now()));
    if (!sending.mayContinue() || failure !== undefined) break;
    const named = group.map((task) => ({ ...task, id: `${task.operation}-${++number}` }));
    const request = limit(async () => {
      const sentAt = Date.now();
      await sendGroup(named, sending);
      sent.push(...named.map((task) => ({ ...task, at: sentAt - from, sentAt })));
      sending.onSent?.(named.length);
    }).catch((cause: unknown) => {
      failure ??= cause;
    });
    open.add(request);
    void request.finally(() => open.delete(request));
    while (open.size >= 2 * REQUESTS_AT_ONCE) await Promise.race(open);
  }
  await Promise.all(open);
  if (failure !== undefined) throw failure;
  return sent.toSorted((a, b) => a.at - b.at);
};

function* groupsOf(tasks: Iterable<Arrival>): Generator<Arrival[]> {
  let group: Arrival[] = [];
  for (const task of tasks) {
    const [first] = group;
    if (first && (group.length === GROUP || task.at - first.at >= TOGETHER)) {
      yield group;
      group = [];
    }
    group.push(task);
  }
  if (group.length > 0) yield group;
}

const sendGroup = async (
  tasks: readonly (Arrival & { readonly id: string })[],
  { sqs, queueUrl: QueueUrl }: Sending,
): Promise<void> => {
  let entries = tasks.map(({ id, operation, payload }, index) => ({
    Id: String(index),
    MessageBody: `{"id":${JSON.stringify(id)},"operation":${JSON.stringify(operation)},"payload":${payload}}`,
  }));
  for (let tries = 1; ; tries += 1) {
    const { Failed = [] } = await sqs.send(new SendMessageBatchCommand({ QueueUrl, Entries: entries }));
    if (Failed.length === 0) return;
    if (tries === TRIES)
      throw new CommandFailure(
        `SQS did not accept ${Failed.length} tasks in ${TRIES} tries: ${Failed[0]?.Message ?? Failed[0]?.Code}`,
      );
    const refused = new Set(Failed.map(({ Id }) => Id));
    entries = entries.filter(({ Id }) => refused.has(Id));
    await setTimeout(PAUSE * tries);
  }
};
