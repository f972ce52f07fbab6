/**
 * Requests that DynamoDB refuses while another transaction is in progress, or while it is throttling. The engines in
 * these tests never do so.
 */
import { TransactionCanceledException, TransactionConflictException } from '@aws-sdk/client-dynamodb';
import type { AwsClients } from '../../src/aws/clients.ts';

/** Refuses the next `times` requests of a kind with `cause`, and does not send them. */
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

/** Counts how many requests of a kind are in flight at once. */
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

/** Sends all requests from now on. */
export const taken = ({ dynamodb }: AwsClients): boolean => dynamodb.middlewareStack.remove('refused');

export const HELD = new TransactionConflictException({ message: 'said to be held by a transaction', $metadata: {} });
export const PLAIN_WRITES = /^(Put|Update)ItemCommand$/;
export const TRANSACTIONS = /^TransactWriteItemsCommand$/;

/** The error of a transaction that was cancelled for a reason. */
export const cancelled = (Code: string) =>
  new TransactionCanceledException({
    message: Code,
    $metadata: {},
    CancellationReasons: [{ Code: 'None' }, { Code }],
  });
