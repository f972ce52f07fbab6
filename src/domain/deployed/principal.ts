/** The principals of IAM that send requests and messages: parses their ARNs and ids. Pure. */

/** A role, whatever its session; a user; the root user of an account; or a user with a federation token. */
export interface Principal {
  readonly kind: 'role' | 'user' | 'root' | 'federated-user';
  /** The id of the account, 12 digits. */
  readonly account: string;
  /** Without a path, because it is unique in its account: the ARN of a role's session has no path. `root` for the root user. */
  readonly name: string;
  /** Only in the ARN of a role's session. */
  readonly session?: string;
}

/**
 * `AROA…` of `AROA…:session`. Other ids stay as they are: that of a federated user is `ACCOUNT:name`, and its part before
 * the colon would be the id of the root user.
 */
export const withoutSession = (id: string): string => /^(A[A-Z]{3}[A-Z0-9]+):/.exec(id)?.[1] ?? id;

const ARN = /^arn:[\w-]+:(?:iam|sts)::(\d{12}):(.+)$/s;

/** Parses `arn:aws:sts::ACCOUNT:assumed-role/ROLE/SESSION` and the ARNs of roles and users. Undefined for all others. */
export const principalOf = (arn: string): Principal | undefined => {
  const [, account = '', resource = ''] = ARN.exec(arn) ?? [];
  if (resource === 'root') return { kind: 'root', account, name: 'root' };
  const [kind, ...parts] = resource.split('/');
  if (parts.length === 0 || parts.includes('')) return undefined;
  switch (kind) {
    case 'assumed-role': {
      const [name = '', session, ...others] = parts;
      return session === undefined || others.length > 0 ? undefined : { kind: 'role', account, name, session };
    }
    case 'role':
    case 'user':
    case 'federated-user':
      return { kind, account, name: parts.at(-1) ?? '' };
    default:
      return undefined;
  }
};
