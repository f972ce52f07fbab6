/** Clients that note what they use, as IAM would see it. */
import type { AwsClients } from '../../src/aws/clients.ts';
import type { Use } from './use.ts';
import { usesOf } from './uses.ts';

/** Adds to the clients themselves: give each function its own. Noted before it is sent, since IAM decides before too. */
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
