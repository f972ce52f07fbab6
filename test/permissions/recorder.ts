/** Clients that record their uses in IAM's terms. */
import type { AwsClients } from '../../src/aws/clients.ts';
import type { Use } from './use.ts';
import { usesOf } from './uses.ts';

/**
 * Changes the clients themselves, so give each function its own. A use is recorded before the request, since IAM
 * decides then too.
 */
export const recording = (clients: AwsClients, note: (use: Use) => void): AwsClients => {
  const noting =
    <Args extends { readonly input: object }, Answer>(
      next: (args: Args) => Promise<Answer>,
      { commandName }: { readonly commandName?: string },
    ) =>
    async (args: Args): Promise<Answer> => {
      for (const use of usesOf(String(commandName), args.input)) note(use);
      return next(args);
    };
  clients.dynamodb.middlewareStack.add(noting, { step: 'initialize', name: 'permissions' });
  clients.sqs.middlewareStack.add(noting, { step: 'initialize', name: 'permissions' });
  return clients;
};
