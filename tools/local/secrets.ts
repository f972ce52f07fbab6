/** Secrets on this machine: environment variables replace SSM and Secrets Manager. */
import type { SecretRef } from '../../src/domain/config/endpoints.ts';
import type { Environment } from '../../src/domain/deployed/environment.ts';
import { type Secrets, SecretUnreadable } from '../../src/domain/downstream/secret.ts';

/** The environment variable of a secret: `GROUPAGE_SECRET_GROUPAGE_SIGNING` for `/groupage/signing`. */
export const secretVariable = (ref: SecretRef): string => {
  // For an ARN, use its last part.
  const [name = ''] = ('ssm' in ref ? ref.ssm : ref.secretsManager).split(':').slice(-1);
  return `GROUPAGE_SECRET_${name
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]+/g, '_')
    .replace(/^_|_$/g, '')}`;
};

export const environmentSecrets = (environment: Environment): Secrets => ({
  read: async (ref) => {
    const text = environment[secretVariable(ref)];
    if (!text)
      throw new SecretUnreadable(
        ref,
        `set the environment variable ${secretVariable(ref)}, which replaces it on this machine`,
      );
    return text;
  },
});
