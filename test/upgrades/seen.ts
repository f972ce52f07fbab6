/** Reads the queues of a release from outside. */
import { DeleteMessageCommand, GetQueueUrlCommand, ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import { eventually } from '../end-to-end/flow.ts';
import type { Running } from './release.ts';

/** Whether this platform has a build of the engine that wrote the fixtures. */
export const hasDynoxide = (): boolean => {
  try {
    return import.meta.resolve(`@dynoxide/${process.platform}-${process.arch}/package.json`) !== '';
  } catch {
    // The package is missing: there is no build for this platform.
    return false;
  }
};

/** Takes all messages from a queue. @returns their bodies */
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

/** Receives events from a queue until the condition holds. */
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
