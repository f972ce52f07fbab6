/** Secrets as those see them who use them. Pure. */
import type { SecretRef } from '../config/endpoints.ts';

export interface Secrets {
  /** The text of a secret, at the most five minutes old. @throws SecretUnreadable */
  read(ref: SecretRef): Promise<string>;
}

/** A secret that could not be read: which one, why, and what to do. Never its text. */
export class SecretUnreadable extends Error {
  override readonly name = 'SecretUnreadable';
  readonly ref: SecretRef;
  constructor(ref: SecretRef, why: string, cause?: unknown) {
    super(`${describeSecret(ref)} cannot be used: ${why}`, { cause });
    this.ref = ref;
  }
}

/** Where it lies, for people. */
const describeSecret = (ref: SecretRef): string =>
  'ssm' in ref ? `the parameter ${ref.ssm} of SSM` : `the secret ${ref.secretsManager} of Secrets Manager`;

/** What names a secret among all. */
export const keyOfSecret = (ref: SecretRef): string =>
  'ssm' in ref ? `ssm ${ref.ssm}` : `secretsManager ${ref.secretsManager}`;
