/**
 * Who sent a request. A function URL, an HTTP API and a REST API pass on the identity that IAM found in the signature;
 * a caller cannot change it. A local API has no IAM.
 */
import type { Context } from 'hono';
import { type Principal, principalOf, withoutSession } from '../../domain/deployed/principal.ts';
import { isObject } from '../../util/json-text.ts';
import { cutToBytes } from '../../util/utf8.ts';

export interface Caller {
  /**
   * IAM's unique id without the session: `AROA…` for a role, `AIDA…` for a user, the id of the account for its root
   * user. {@link LOCAL} for a local API. {@link UNKNOWN} if the event has no identity.
   */
  readonly id: string;
  /** A readable name: that of the role or user, or of the operating system's user. */
  readonly name?: string;
  /** The ARN, with the session of a role. */
  readonly arn?: string;
  /** The principal in the ARN. */
  readonly principal?: Principal;
  /** The IP address from which the request came. */
  readonly from?: string;
  readonly userAgent?: string;
}

/** The id of every caller of a local API. */
const LOCAL = 'local';
/** The id of a caller that the event does not name. */
const UNKNOWN = 'unknown';

/** What a local server passes to the API beside each request. */
export interface LocalEnv {
  /** The name of the operating system's user. */
  readonly localUser: string;
}

/**
 * The longest values that are kept, in characters, and of the user agent in bytes. IAM's ARNs of sessions have at most
 * 2,048 characters, and its names 64.
 */
const MAX = { arn: 2_048, id: 256, name: 128, from: 64, userAgent: 200 } as const;

/** The caller of a request. The environment is that of `hono/aws-lambda`, or of a local server ({@link LocalEnv}). */
export const callerOf = ({ env }: Pick<Context, 'env'>): Caller => {
  const { event, localUser } = objectIn({ env }, 'env');
  return event === undefined
    ? { id: LOCAL, ...present({ name: text(localUser, MAX.name) }) }
    : callerIn(objectIn({ event }, 'event', 'requestContext'));
};

/** @param context the `requestContext` of a function URL, an HTTP API or a REST API, or anything else */
export const callerIn = (context: Readonly<Record<string, unknown>>): Caller => {
  const iam = objectIn(context, 'authorizer', 'iam');
  const identity = objectIn(context, 'identity');
  const http = objectIn(context, 'http');
  const arn = text(iam.userArn, MAX.arn) ?? text(identity.userArn, MAX.arn);
  const principal = arn === undefined ? undefined : principalOf(arn);
  const said = [iam.callerId, iam.userId, identity.caller, identity.user].find((id) => text(id, MAX.id) !== undefined);
  return {
    id: said === undefined ? idIn(principal) : withoutSession(String(said)),
    ...present({
      name: principal?.name,
      arn,
      from: text(http.sourceIp, MAX.from) ?? text(identity.sourceIp, MAX.from),
      userAgent: cut(http.userAgent, MAX.userAgent) ?? cut(identity.userAgent, MAX.userAgent),
    }),
    ...(principal ? { principal } : {}),
  };
};

/** An id for a principal whose unique id is missing. It cannot be a unique id of IAM, which has no slash. */
const idIn = (principal: Principal | undefined): string => {
  if (!principal) return UNKNOWN;
  const { kind, account, name } = principal;
  return kind === 'root' ? account : `${account}:${kind}/${name}`;
};

const text = (value: unknown, most: number): string | undefined =>
  typeof value === 'string' && value !== '' && value.length <= most && value.isWellFormed() ? value : undefined;

const cut = (value: unknown, most: number): string | undefined =>
  typeof value === 'string' && value !== '' ? cutToBytes(value, most) : undefined;

/** The object at a path, or an empty one. */
const objectIn = (value: unknown, ...path: readonly string[]): Readonly<Record<string, unknown>> => {
  const found = path.reduce<unknown>((at, name) => (isObject(at) ? at[name] : undefined), value);
  return isObject(found) ? found : {};
};

type Present<T> = { readonly [K in keyof T]?: Exclude<T[K], undefined> };

/** Without the undefined fields. */
const present = <T extends object>(fields: T): Present<T> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Present<T>;
