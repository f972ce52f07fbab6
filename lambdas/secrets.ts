/** Reads secrets for a function. In a local start the host supplies them, otherwise AWS Secrets Manager. */
import type { Secrets } from '../src/domain/downstream/secret.ts';
import type { Machine } from '../src/ports/machine.ts';
import type { Host } from './host.ts';
import { once } from './lazy.ts';

export const secretsOf = ({ services }: Pick<Host, 'services'>, { now }: Pick<Machine, 'now'>): Secrets =>
  services?.secrets ?? secretsInAws(now);

/** The client is loaded on demand, because most configurations name no secret. */
const secretsInAws = (now: Machine['now']): Secrets => {
  const loaded = once(async () => {
    const { awsSecrets, secretClients } = await import('../src/aws/secrets.ts');
    return awsSecrets(secretClients(), now);
  });
  return { read: async (ref) => (await loaded()).read(ref) };
};
