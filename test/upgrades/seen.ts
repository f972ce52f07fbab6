/** What can be seen of a release from outside: its queues. */
import { DeleteMessageCommand, GetQueueUrlCommand, ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import { eventually } from '../end-to-end/flow.ts';
import type { Running } from './release.ts';

/** Whether there is a build of the engine that fixtures were written with. */
export const hasDynoxide = (): boolean => {
  try {
    return import.meta.resolve(`@dynoxide/${process.platform}-${process.arch}/package.json`) !== '';
  } catch {
    // No such package: there is no build for this platform.
    return false;
  }
};

/** The bodies of all messages of a queue, which are gone then. */
export const takeAll = async ({ clients: { sqs } }: Running, QueueUrl: string): Promise<readonly string[]> => {
  const bodies: string[] = [];
  for (;;) {
    const { Messages = [] } = await sqs.send(new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 }));
    if (Messages.length === 0) return bodies;
    for (const { Body = '', ReceiptHandle } of Messages) {
      bodies.push(Body);
      await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
    }
  }
};

interface Event {
  readonly id: string;
  readonly type: string;
  readonly data: { readonly id: string };
}

/** The events that come to a queue, until they are enough. */
export const eventsIn = async (
  running: Running,
  QueueName: string,
  areEnough: (events: readonly Event[]) => boolean,
): Promise<readonly Event[]> => {
  const { QueueUrl = '' } = await running.clients.sqs.send(new GetQueueUrlCommand({ QueueName }));
  const events: Event[] = [];
  await eventually(async () => {
    events.push(...(await takeAll(running, QueueUrl)).map((body) => JSON.parse(body) as Event));
    return areEnough(events);
  });
  return events;
};
