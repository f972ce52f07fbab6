/**
 * The callers of the API whose rights are limited. The construct passes them to the API's function, because a function
 * URL cannot limit methods and paths. A caller that is not listed, but that IAM lets in, has all rights. Pure.
 */
import { type Principal, principalOf } from './principal.ts';

/**
 * What a call of the API requires.
 *
 * - `read`: to look, without effect.
 * - `operate`: what people on call do.
 * - `work`: what services do, as often as tasks arrive.
 */
export type Right = 'read' | 'operate' | 'work';

/** The rights of a limited caller, by its largest one. Only callers without a limit may `work`. */
export type Limit = Exclude<Right, 'work'>;

const RIGHTS: Readonly<Record<Limit, readonly Right[]>> = { read: ['read'], operate: ['read', 'operate'] };

export const includes = (limit: Limit, right: Right): boolean => RIGHTS[limit].includes(right);

/** ARNs of roles and users, by limit. JSON of this is the value of the environment variable. */
export type LimitedArns = Readonly<Partial<Record<Limit, readonly string[]>>>;

/** The limits by caller. See {@link keyOf}. */
export type Limits = ReadonlyMap<string, Limit>;

/**
 * Names a role or user. IAM has no two names in an account that differ in case only.
 */
const keyOf = ({ kind, account, name }: Principal): string => `${account}:${kind}/${name}`.toLowerCase();

/** @throws Error if an ARN names neither a role nor a user. Then every request fails, and no limit is ignored. */
export const parseLimits = (text: string): Limits => {
  const { read = [], operate = [] } = JSON.parse(text) as LimitedArns;
  const named = (limit: Limit, arns: readonly string[]) =>
    arns.map((arn) => {
      const principal = principalOf(arn);
      if (principal?.kind !== 'role' && principal?.kind !== 'user')
        throw new Error(`the rights of the API are limited for ${arn}, which is neither a role nor a user`);
      return [keyOf(principal), limit] as const;
    });
  // The larger right comes last, and replaces the smaller one.
  return new Map([...named('read', read), ...named('operate', operate)]);
};

/**
 * The limit of a caller. Undefined if it has all rights.
 *
 * `none` if the caller could be a limited one: it has no identity, or it has a federation token, which any user of the
 * account may have requested with rights of its own.
 */
export const limitOf = (limits: Limits, principal: Principal | undefined): Limit | 'none' | undefined => {
  if (limits.size === 0) return undefined;
  if (!principal) return 'none';
  const { kind, account } = principal;
  if (kind === 'federated-user')
    return [...limits.keys()].some((key) => key.startsWith(`${account}:user/`)) ? 'none' : undefined;
  return limits.get(keyOf(principal));
};
