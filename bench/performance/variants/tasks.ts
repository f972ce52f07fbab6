/** The work of functions without tables: they read register messages and make calls with the messages' payloads. */

import type { Downstream } from '../../../src/domain/downstream/downstream.ts';
import { SecretUnreadable } from '../../../src/domain/downstream/secret.ts';
import { verdictOf } from '../../../src/domain/downstream/verdict.ts';
import type { BatchId, Target } from '../../../src/domain/ids.ts';
import { parseRegisterMessage, type SentTask } from '../../../src/domain/register/register-message.ts';
import { httpDownstream } from '../../../src/downstreams/http.ts';
import { inParts } from '../../../src/util/parts.ts';
import type { Delivered } from '../event-source.ts';
import type { Site } from '../site.ts';

/** A task, with the message that contained it. */
export interface Received extends SentTask {
  readonly messageId: string;
}

export const tasksIn = ({ config }: Pick<Site, 'config'>, messages: readonly Delivered[]): Received[] =>
  messages.map((message) => {
    const parsed = parseRegisterMessage(config, message);
    if (!parsed.ok) throw new TypeError(`a message of the load is refused: ${JSON.stringify(parsed.problems)}`);
    return { ...parsed.value, messageId: message.messageId };
  });

/** The downstream. Every variant calls it with Groupage's own client. */
export const downstreamOf = ({ operation }: Pick<Site, 'operation'>): Downstream => {
  if (operation.downstream.kind !== 'http') throw new TypeError('the downstream of a load is called by HTTP');
  const secrets = {
    read: (ref: ConstructorParameters<typeof SecretUnreadable>[0]) =>
      Promise.reject(new SecretUnreadable(ref, 'there is none')),
  };
  return httpDownstream(operation.downstream, { now: Date.now, secrets });
};

/** Makes one call for tasks of one Target. @returns the messages that must be delivered again */
export const call = async (downstream: Downstream, tasks: readonly Received[]): Promise<string[]> => {
  const [first] = tasks;
  if (!first) return [];
  const { id, operation, target } = first;
  const answer = await downstream.call({
    batchId: id as string as BatchId,
    operation,
    target,
    attempt: 1,
    items: tasks,
  });
  return verdictOf(answer, tasks).open.map(({ messageId }) => messageId);
};

/** Makes calls for each Target among the tasks, with at most `maxSize` tasks each. */
export const callByTarget = async (
  downstream: Downstream,
  tasks: readonly Received[],
  maxSize: number,
): Promise<string[]> => {
  const byTarget = new Map<Target, Received[]>();
  for (const task of tasks) byTarget.set(task.target, [...(byTarget.get(task.target) ?? []), task]);
  const calls = [...byTarget.values()].flatMap((all) => inParts(all, maxSize));
  return (await Promise.all(calls.map((some) => call(downstream, some)))).flat();
};
