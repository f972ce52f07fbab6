/** Queues on a real engine, with faults that a test chooses for each request. */
import {
  CreateQueueCommand,
  ReceiveMessageCommand,
  type SendMessageBatchCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';

/**
 * The fate of a request: refused before it is sent, throttled until the client gives up, done with a lost answer, or
 * with every third message not accepted, temporarily or permanently.
 */
export type Fate = 'refused' | 'throttled' | 'answer-lost' | 'partial' | 'partly-refused';

/** An error as the SDK throws it. */
const serviceError = (name: string, message: string, status: number): Error =>
  Object.assign(new Error(message), { name, $fault: 'client', $metadata: { httpStatusCode: status, attempts: 1 } });

/**
 * Gives a fate to each further request that sends messages. @param fateOf takes the request's number, from 1;
 * undefined sends it
 *
 * @returns the number of messages in each request
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

/** A new queue. @returns its URL */
export const newQueue = async (sqs: SQSClient): Promise<string> => {
  queues += 1;
  return (await sqs.send(new CreateQueueCommand({ QueueName: `client-${process.pid}-${queues}` }))).QueueUrl ?? '';
};

/** Receives and deletes all messages of a queue. @returns their bodies, in any order */
export const drain = async (sqs: SQSClient, QueueUrl: string): Promise<string[]> => {
  const all: string[] = [];
  for (;;) {
    const { Messages = [] } = await sqs.send(new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 }));
    if (Messages.length === 0) return all;
    all.push(...Messages.map(({ Body = '' }) => Body));
  }
};
