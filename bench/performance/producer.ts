/**
 * Sends a load's tasks when they are due, as register messages, ten per request. All variants use the same producer.
 */

import { setTimeout } from 'node:timers/promises';
import { SendMessageBatchCommand, type SendMessageBatchRequestEntry, type SQSClient } from '@aws-sdk/client-sqs';
import pLimit from 'p-limit';
import type { Millis } from '../../src/domain/ids.ts';
import type { Load } from './loads.ts';

/** A task as it was sent. */
export interface Sent {
  readonly id: string;
  /** The start of the request that sent the task, in milliseconds since 1970. */
  readonly at: Millis;
}

export interface Sending {
  readonly sent: readonly Sent[];
  readonly requests: number;
}

/** The time within which due tasks are sent together, in milliseconds. */
const TICK: Millis = 50;
const ENTRIES = 10;
/** The most requests in flight at once. */
const CONCURRENCY = 8;

/** @param groupOf returns the message group of a payload, for a FIFO queue */
export const sendLoad = async (
  sqs: SQSClient,
  queueUrl: string,
  { arrivals }: Load,
  groupOf?: (payload: string) => string,
): Promise<Sending> => {
  const limit = pLimit(CONCURRENCY);
  const requests: Promise<readonly Sent[]>[] = [];
  const entryOf = ({ operation, payload }: Load['arrivals'][number], n: number): Entry => {
    const id = `task-${n}`;
    // The payload is inserted as text, so that it is sent unchanged.
    const body = `{"operation":"${operation}","id":"${id}","payload":${payload}}`;
    return { id, body, ...(groupOf ? { group: groupOf(payload) } : {}) };
  };
  const from = Date.now();
  for (let next = 0; next < arrivals.length; ) {
    const now = Date.now() - from;
    const first = next;
    while (next < arrivals.length && (arrivals[next]?.at ?? 0) <= now) next += 1;
    const due = arrivals.slice(first, next).map((arrival, index) => entryOf(arrival, first + index));
    for (let part = 0; part < due.length; part += ENTRIES)
      requests.push(limit(() => send(sqs, queueUrl, due.slice(part, part + ENTRIES))));
    if (next < arrivals.length) await setTimeout(TICK);
  }
  return { sent: (await Promise.all(requests)).flat(), requests: requests.length };
};

interface Entry {
  readonly id: string;
  readonly body: string;
  readonly group?: string;
}

const send = async (sqs: SQSClient, QueueUrl: string, entries: readonly Entry[]): Promise<readonly Sent[]> => {
  const at = Date.now();
  const { Failed = [] } = await sqs.send(new SendMessageBatchCommand({ QueueUrl, Entries: entries.map(messageOf) }));
  if (Failed.length > 0) throw new Error(`${Failed.length} messages were not accepted: ${Failed[0]?.Message}`);
  return entries.map(({ id }) => ({ id, at }));
};

const messageOf = ({ id, body, group }: Entry, index: number): SendMessageBatchRequestEntry => ({
  Id: String(index),
  MessageBody: body,
  ...(group === undefined ? {} : { MessageGroupId: group, MessageDeduplicationId: id }),
});
