/** How this project uses SQS: batches limited by count and bytes, and retries of failed entries. */
import { SendMessageBatchCommand, type SendMessageBatchRequestEntry, type SQSClient } from '@aws-sdk/client-sqs';
import { SQS_MAX_BYTES } from '../domain/messages.ts';
import type { Outcome, Sending } from '../domain/register/sending.ts';
import { someAtOnce } from '../util/at-once.ts';
import { sendable } from '../util/json-text.ts';
import { inRounds, type Left } from './rounds.ts';

/** SQS accepts ten messages per request. */
const ENTRIES = 10;
/** Number of requests in flight at once. */
const CONCURRENCY = 8;

export interface Outgoing {
  readonly body: string;
  /** Delay in whole seconds, 0 to 900. */
  readonly delay?: number;
  readonly attributes?: Readonly<Record<string, string>>;
}

/** How messages are sent. */
export interface How {
  /**
   * Begins a new chain for Lambda's loop detection, which stops a function after about 16 invocations in one chain.
   * @default false - the messages continue the chain of the current invocation
   */
  readonly beginsChain?: boolean;
}

/** A message that SQS did not accept. */
export class SqsFailure extends Error {
  override readonly name = 'SqsFailure';
  readonly code: string;
  constructor(code: string, message: string) {
    super(`SQS: ${message} (${code})`);
    this.code = code;
  }
}

/**
 * Sends messages until all are sent, a request fails, or SQS permanently refuses an entry. After a failure no further
 * request is made, and requests in flight are awaited.
 *
 * @returns the outcome of each message, and the failure if not all were sent: SqsFailure for an entry that SQS refused,
 * GaveUp for entries that SQS rejected temporarily in all rounds, or the client's own error
 */
export const sendSome = async (
  client: SQSClient,
  queueUrl: string,
  messages: readonly Outgoing[],
  how: How = {},
): Promise<Sending> => {
  const outcomes: Outcome[] = messages.map(() => ({ is: 'unsent' }));
  const all = messages.map(
    (message, index): Indexed => ({ message: { ...message, body: sendable(message.body) }, index }),
  );
  try {
    await inRounds(all, async (open) => {
      const left = await someAtOnce(chunks(open), CONCURRENCY, (chunk) =>
        sendChunk(client, queueUrl, chunk, how, outcomes),
      );
      return left.flat();
    });
    return { outcomes };
  } catch (cause) {
    return { outcomes, failure: { cause } };
  }
};

/**
 * Sends messages and returns their SQS ids, in order.
 *
 * @throws the failure of `sendSome`. Some messages may have been sent. No request is in flight when the error is
 * thrown.
 */
export const sendAll = async (
  client: SQSClient,
  queueUrl: string,
  messages: readonly Outgoing[],
  how?: How,
): Promise<string[]> => {
  const { outcomes, failure } = await sendSome(client, queueUrl, messages, how);
  if (failure) throw failure.cause;
  return outcomes.flatMap((outcome) => (outcome.is === 'sent' ? [outcome.messageId] : []));
};

interface Indexed {
  readonly message: Outgoing;
  readonly index: number;
}

/** Sends one request and notes the outcome of each message. Returns the messages that must be sent again. */
const sendChunk = async (
  client: SQSClient,
  queueUrl: string,
  chunk: readonly Indexed[],
  { beginsChain = false }: How,
  outcomes: Outcome[],
): Promise<Left<Indexed>[]> => {
  for (const { index } of chunk) outcomes[index] = { is: 'failed' };
  const command = new SendMessageBatchCommand({ QueueUrl: queueUrl, Entries: chunk.map(entryOf) });
  if (beginsChain) beginChain(command);
  const { Successful = [], Failed = [] } = await client.send(command);
  for (const { Id, MessageId = '' } of Successful) outcomes[Number(Id)] = { is: 'sent', messageId: MessageId };
  const causes = new Map<number, SqsFailure>();
  for (const { Id, Code = 'Unknown', Message = 'an entry failed', SenderFault } of Failed) {
    const cause = new SqsFailure(Code, Message);
    if (SenderFault) throw cause;
    causes.set(Number(Id), cause);
  }
  return chunk.flatMap((each) =>
    outcomes[each.index]?.is === 'sent'
      ? []
      : [
          {
            each,
            cause:
              causes.get(each.index) ??
              new SqsFailure('NotAnswered', 'the answer of SQS does not mention this message'),
          },
        ],
  );
};

/**
 * Removes the part of the trace header in which Lambda counts the invocations of each function. The SDK copies this
 * header from the current invocation, and SQS passes it on with each message of the request. The other parts stay, so
 * that X-Ray's traces stay connected.
 */
const beginChain = ({ middlewareStack }: SendMessageBatchCommand): void =>
  middlewareStack.add(
    (next) => (args) => {
      const { headers } = args.request as { readonly headers: Record<string, string> };
      for (const [name, value] of Object.entries(headers))
        if (name.toLowerCase() === 'x-amzn-trace-id') headers[name] = withoutLineage(value);
      return next(args);
    },
    { step: 'finalizeRequest', priority: 'high', name: 'beginChain' },
  );

const withoutLineage = (header: string): string =>
  header
    .split(';')
    .filter((part) => !part.trim().startsWith('Lineage='))
    .join(';');

const entryOf = ({ message, index }: Indexed): SendMessageBatchRequestEntry => ({
  Id: String(index),
  MessageBody: message.body,
  ...(message.delay ? { DelaySeconds: message.delay } : {}),
  ...(message.attributes
    ? {
        MessageAttributes: Object.fromEntries(
          Object.entries(message.attributes).map(([name, value]) => [name, { DataType: 'String', StringValue: value }]),
        ),
      }
    : {}),
});

/** Splits messages into requests by count and bytes. The order is kept. */
const chunks = (open: readonly Indexed[]): Indexed[][] => {
  const all: Indexed[][] = [];
  let bytes = 0;
  for (const each of open) {
    const size = sizeOf(each.message);
    const last = all.at(-1);
    if (last && last.length < ENTRIES && bytes + size <= SQS_MAX_BYTES) {
      last.push(each);
      bytes += size;
    } else {
      all.push([each]);
      bytes = size;
    }
  }
  return all;
};

/** Number of bytes of a message as SQS counts them: the body, and the attributes with their names and types. */
const sizeOf = ({ body, attributes = {} }: Outgoing): number =>
  Object.entries(attributes).reduce(
    (sum, [name, value]) => sum + Buffer.byteLength(name) + 'String'.length + Buffer.byteLength(value),
    Buffer.byteLength(body),
  );
