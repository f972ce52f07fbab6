/** The secrets that a λ reads: its host's, or AWS's. */
import { awsSecrets, secretClients } from '../src/aws/secrets.ts';
import type { Secrets } from '../src/downstream/secret.ts';
import type { Machine } from '../src/ports.ts';
import type { Host } from './compose.ts';

export const secretsOf = ({ services }: Pick<Host, 'services'>, { now }: Pick<Machine, 'now'>): Secrets =>
  services?.secrets ?? awsSecrets(secretClients(), now);
