/** How the callers of downstreams and destinations get secrets. Pure. */
import type { SecretRef } from '../config/endpoints.ts';

export interface Secrets {
  /** The text of a secret, at most five minutes old. @throws SecretUnreadable */
  read(ref: SecretRef): Promise<string>;
}

/**
 * A secret that could not be read. The message says which one, why, and what to do. It never contains the secret's
 * text.
 */
export class SecretUnreadable extends Error {
  override readonly name = 'SecretUnreadable';
  readonly ref: SecretRef;
  constructor(ref: SecretRef, why: string, cause?: unknown) {
    super(`${describeSecret(ref)} cannot be used: ${why}`, { cause });
    this.ref = ref;
  }
}

/** Where the secret is stored, for users. */
const describeSecret = (ref: SecretRef): string =>
  'ssm' in ref ? `the parameter ${ref.ssm} of SSM` : `the secret ${ref.secretsManager} of Secrets Manager`;

/** A key that identifies a secret. */
export const keyOfSecret = (ref: SecretRef): string =>
  'ssm' in ref ? `ssm ${ref.ssm}` : `secretsManager ${ref.secretsManager}`;
