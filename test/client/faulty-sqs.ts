/** Queues on a real engine, whose requests meet with the faults that a test names. */
import {
  CreateQueueCommand,
  ReceiveMessageCommand,
  type SendMessageBatchCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';

/**
 * What becomes of a request: it is refused before anything is sent, throttled to the end of the client's own tries, done
 * though its answer is lost, or every third of its messages is not taken, for now or for good.
 */
export type Fate = 'refused' | 'throttled' | 'answer-lost' | 'partial' | 'partly-refused';

/** An error as the SDK throws it. */
const serviceError = (name: string, message: string, status: number): Error =>
  Object.assign(new Error(message), { name, $fault: 'client', $metadata: { httpStatusCode: status, attempts: 1 } });

/**
 * From here on each request to send messages meets its fate. @param fateOf by its number, from 1; undefined: it is sent
 *
 * @returns how many messages each request had.
 */
export const withFates = (sqs: SQSClient, fateOf: (request: number) => Fate | undefined): readonly number[] => {
  const requests: number[] = [];
  sqs.middlewareStack.add(
    (next, context) => async (args) => {
      if (context.commandName !== 'SendMessageBatchCommand') return next(args);
      const input = args.input as SendMessageBatchCommand['input'];
      const entries = input.Entries ?? [];
      requests.push(entries.length);
      const fate = fateOf(requests.length);
      switch (fate) {
        case undefined:
          return next(args);
        case 'refused':
          throw serviceError('AccessDenied', 'Access to the resource is denied.', 403);
        case 'throttled':
          throw serviceError('RequestThrottled', 'Rate exceeded', 400);
        case 'answer-lost':
          await next(args);
          throw Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
        case 'partial':
        case 'partly-refused': {
          const Failed = entries
            .filter((_, entry) => entry % 3 === 0)
            .map(({ Id }) => ({
              Id,
              Code: 'InternalError',
              SenderFault: fate !== 'partial',
              Message: 'as the test says',
            }));
          input.Entries = entries.filter((_, entry) => entry % 3 !== 0);
          const answer = input.Entries.length > 0 ? await next(args) : { output: { Successful: [] }, response: {} };
          return { ...answer, output: { ...(answer.output as object), Failed } } as never;
        }
      }
    },
    { step: 'initialize', name: 'fates', override: true },
  );
  return requests;
};

let queues = 0;

/** A queue of its own. @returns its URL */
export const newQueue = async (sqs: SQSClient): Promise<string> => {
  queues += 1;
  return (await sqs.send(new CreateQueueCommand({ QueueName: `client-${process.pid}-${queues}` }))).QueueUrl ?? '';
};

/** The bodies of all messages that lie in a queue, in any order. */
export const drain = async (sqs: SQSClient, QueueUrl: string): Promise<string[]> => {
  const all: string[] = [];
  for (;;) {
    const { Messages = [] } = await sqs.send(new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 }));
    if (Messages.length === 0) return all;
    all.push(...Messages.map(({ Body = '' }) => Body));
  }
};
