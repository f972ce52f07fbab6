/**
 * Requests that DynamoDB refuses while somebody's transaction is under way, or while it is too busy: no engine here
 * does.
 */
import { TransactionCanceledException, TransactionConflictException } from '@aws-sdk/client-dynamodb';
import type { AwsClients } from '../../src/aws/clients.ts';

/** The next so many requests of a kind are refused, as DynamoDB does, and not sent. */
export const refused = (
  { dynamodb }: AwsClients,
  kind: RegExp,
  times: number,
  cause: Error,
): { readonly left: () => number } => {
  let left = times;
  const meddle =
    <Args, Answer>(next: (args: Args) => Promise<Answer>, { commandName }: { readonly commandName?: string }) =>
    async (args: Args): Promise<Answer> => {
      if (left === 0 || !kind.test(commandName ?? '')) return next(args);
      left -= 1;
      throw cause;
    };
  dynamodb.middlewareStack.add(meddle as never, { step: 'initialize', name: 'refused', override: true });
  return { left: () => left };
};

/** How many requests of a kind are under way together. */
export const atOnce = ({ dynamodb }: AwsClients, kind: RegExp): { readonly most: () => number } => {
  let [open, most] = [0, 0];
  const count =
    <Args, Answer>(next: (args: Args) => Promise<Answer>, { commandName }: { readonly commandName?: string }) =>
    async (args: Args): Promise<Answer> => {
      if (!kind.test(commandName ?? '')) return next(args);
      open += 1;
      most = Math.max(most, open);
      return next(args).finally(() => {
        open -= 1;
      });
    };
  dynamodb.middlewareStack.add(count as never, { step: 'initialize', name: 'refused', override: true });
  return { most: () => most };
};

/** From now on all requests are sent. */
export const taken = ({ dynamodb }: AwsClients): boolean => dynamodb.middlewareStack.remove('refused');

export const HELD = new TransactionConflictException({ message: 'said to be held by a transaction', $metadata: {} });
export const PLAIN_WRITES = /^(Put|Update)ItemCommand$/;
export const TRANSACTIONS = /^TransactWriteItemsCommand$/;

/** Why a transaction was cancelled. */
export const cancelled = (Code: string) =>
  new TransactionCanceledException({
    message: Code,
    $metadata: {},
    CancellationReasons: [{ Code: 'None' }, { Code }],
  });
