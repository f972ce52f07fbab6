/** Clients that note what they use, as IAM would see it. */
import type { AwsClients } from '../../src/aws/clients.ts';
import type { Use } from './use.ts';
import { usesOf } from './uses.ts';

/** Adds to the clients themselves: give each function its own. Noted before it is sent, since IAM decides before too. */
export const recording = (clients: AwsClients, note: (use: Use) => void): AwsClients => {
  const noteAll = (commandName: unknown, input: object): void => {
    for (const use of usesOf(String(commandName), input)) note(use);
  };
  clients.dynamodb.middlewareStack.add(
    (next, { commandName }) =>
      (args) => {
        noteAll(commandName, args.input);
        return next(args);
      },
    { step: 'initialize', name: 'permissions' },
  );
  clients.sqs.middlewareStack.add(
    (next, { commandName }) =>
      (args) => {
        noteAll(commandName, args.input);
        return next(args);
      },
    { step: 'initialize', name: 'permissions' },
  );
  return clients;
};
