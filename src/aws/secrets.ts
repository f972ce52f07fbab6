/**
 * Secrets from SSM parameters and Secrets Manager. Each is cached for five minutes, so that a replaced secret is used
 * soon.
 */
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { GetParameterCommand, SSMClient } from '@aws-sdk/client-ssm';
import { inRegionOf, type Place, type SecretRef } from '../domain/config/endpoints.ts';
import { keyOfSecret, type Secrets, SecretUnreadable } from '../domain/downstream/secret.ts';
import type { Millis } from '../domain/ids.ts';
import { MINUTE } from '../domain/timings.ts';
import { TRIES, timed } from './call-time.ts';

const KEPT: Millis = 5 * MINUTE;

export interface SecretClients {
  readonly ssm: SSMClient;
  /** Creates the client for a region. */
  readonly secretsManager: (place: Place) => SecretsManagerClient;
}

export const secretClients = (): SecretClients => ({
  ssm: timed(new SSMClient(TRIES)),
  secretsManager: (place) => timed(new SecretsManagerClient({ ...TRIES, ...place })),
});

export const awsSecrets = ({ ssm, secretsManager }: SecretClients, now: () => Millis): Secrets => {
  const managers = new Map<string | undefined, SecretsManagerClient>();
  const managerOf = (name: string): SecretsManagerClient => {
    const place = inRegionOf(name);
    const client = managers.get(place.region) ?? secretsManager(place);
    managers.set(place.region, client);
    return client;
  };
  return keptSecrets((ref) => readSecret({ ssm, managerOf }, ref), now);
};

interface Stores {
  readonly ssm: SSMClient;
  readonly managerOf: (name: string) => SecretsManagerClient;
}

interface Kept {
  readonly text: Promise<string>;
  readonly until: Millis;
}

/** Reads each secret once, even for several concurrent callers. Failures are not cached. */
const keptSecrets = (read: (ref: SecretRef) => Promise<string>, now: () => Millis): Secrets => {
  const all = new Map<string, Kept>();
  return {
    read: (ref) => {
      const key = keyOfSecret(ref);
      const kept = all.get(key);
      if (kept && now() < kept.until) return kept.text;
      const next: Kept = { text: read(ref), until: now() + KEPT };
      all.set(key, next);
      next.text.catch(() => {
        if (all.get(key) === next) all.delete(key);
      });
      return next.text;
    },
  };
};

const readSecret = async (stores: Stores, ref: SecretRef): Promise<string> => {
  let text: string | undefined;
  try {
    text = await fetchSecret(stores, ref);
  } catch (cause) {
    throw new SecretUnreadable(ref, whyNot(cause), cause);
  }
  if (!text) throw new SecretUnreadable(ref, 'it contains no text: store a text value');
  return text;
};

const fetchSecret = async ({ ssm, managerOf }: Stores, ref: SecretRef): Promise<string | undefined> =>
  'ssm' in ref
    ? (await ssm.send(new GetParameterCommand({ Name: ref.ssm, WithDecryption: true }))).Parameter?.Value
    : (await managerOf(ref.secretsManager).send(new GetSecretValueCommand({ SecretId: ref.secretsManager })))
        .SecretString;

/** The reason for a failure in this project's own words, because a service's message may contain the secret. */
const whyNot = (cause: unknown): string => {
  const name = cause instanceof Error ? cause.name : 'Error';
  switch (name) {
    case 'ParameterNotFound':
    case 'ResourceNotFoundException':
      return 'it does not exist (a name means this account and region): create it, or correct its name in the configuration';
    case 'AccessDeniedException':
    case 'DecryptionFailure':
      return `the function has no permission to read the secret (${name}): deploy again; if the secret has a KMS key of its own, the key's policy must also allow the function's role to decrypt; if the secret is in another account, so must the secret's policy, and the role needs kms:Decrypt for the key`;
    default:
      return `reading it failed (${name})`;
  }
};
