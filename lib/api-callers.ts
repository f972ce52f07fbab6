/**
 * The callers of the HTTP API and their rights. IAM lets callers in. The API itself enforces limits, because a
 * function URL cannot limit methods and paths: it gets the ARNs of limited callers in its environment.
 */
import { Aws, Reference, Stack, Token, Tokenization } from 'aws-cdk-lib';
import {
  CfnRole,
  CfnUser,
  type Grant,
  Group,
  type IGrantable,
  type IPrincipal,
  UnknownPrincipal,
} from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import type { Limit, LimitedArns } from '../src/domain/deployed/limits.ts';
import { principalOf } from '../src/domain/deployed/principal.ts';
import type { Api } from './api.ts';
import type { Handler } from './handler.ts';
import { InvalidProps } from './invalid-props.ts';

/**
 * Most bytes of the limits in the environment of the API's function. Lambda allows 4,096 bytes for all variables; the
 * others, with the names of producers, take up to about 3,500.
 */
export const LIMITS_MAX_BYTES = 580;
/** Most characters of the ARN of a role with a generated name: 64 for the name, and no path. */
const UNKNOWN_ARN = 'arn:aws-us-gov:iam::111122223333:role/'.length + 64;

const SIZE: Readonly<Record<Limit | 'all', number>> = { read: 1, operate: 2, all: 3 };

export class ApiCallers {
  readonly #scope: Construct;
  readonly #api: Api;
  readonly #handler: Handler;
  /** The right of each grantee, by the text of its ARN, which may be a token. */
  readonly #rights = new Map<string, Limit | 'all'>();

  constructor(scope: Construct, { api, handler }: { readonly api: Api; readonly handler: Handler }) {
    this.#scope = scope;
    this.#api = api;
    this.#handler = handler;
  }

  /** Grants to call all of the API. */
  grantAll(grantee: IGrantable): Grant {
    const arn = arnIn(grantee.grantPrincipal);
    if (arn !== undefined) this.#note(this.#withoutCycle(grantee.grantPrincipal, arn) ?? arn, 'all');
    return this.#api.grantInvoke(grantee);
  }

  /** Grants to call a part of the API. A larger right that was granted before stays. @throws InvalidProps */
  grant(grantee: IGrantable, limit: 'read' | 'operate'): Grant {
    this.#note(this.#limitable(grantee.grantPrincipal), limit);
    return this.#api.grantInvoke(grantee);
  }

  #note(arn: string, right: Limit | 'all'): void {
    const before = this.#rights.get(arn);
    if (before !== undefined && SIZE[before] >= SIZE[right]) return;
    this.#rights.set(arn, right);
    const limited = this.#limited();
    const bytes = sizeOf(limited);
    if (bytes > LIMITS_MAX_BYTES)
      throw new InvalidProps(
        this.#scope,
        `grantRead and grantOperate name too many callers: their ARNs may take ${bytes} of ${LIMITS_MAX_BYTES} bytes in the environment of the API's function. Grant to fewer roles, which several people or services assume`,
      );
    if (before !== undefined || right !== 'all')
      this.#handler.set('limits', Stack.of(this.#scope).toJsonString(limited));
  }

  #limited(): LimitedArns {
    const having = (limit: Limit) => [...this.#rights].flatMap(([arn, right]) => (right === limit ? [arn] : []));
    return { read: having('read'), operate: having('operate') };
  }

  /** The ARN of a role or user. @throws InvalidProps if the API could not recognise it */
  #limitable(principal: IPrincipal): string {
    const arn = arnIn(principal);
    if (arn === undefined) throw new InvalidProps(this.#scope, `${CANNOT}: ${WAY_OUT}`);
    if (!isRoleOrUser(Stack.of(this.#scope).resolve(arn)))
      throw new InvalidProps(this.#scope, `${CANNOT}, and ${readable(arn)} is neither: ${WAY_OUT}`);
    const own = this.#withoutCycle(principal, arn);
    if (own !== undefined) return own;
    throw new InvalidProps(
      this.#scope,
      `the role or user of another stack has a generated name. The stack of the API would need this name, and the other stack needs the API: give the role or user a name (roleName, userName), or create it in the stack of the API`,
    );
  }

  /**
   * The ARN without a reference to another stack, whose policy refers to the API already. Undefined if the name is known
   * at deployment only.
   */
  #withoutCycle(principal: IPrincipal, arn: string): string | undefined {
    const isOfOther = Tokenization.reverseString(arn).tokens.some(
      (token) => Reference.isReference(token) && Stack.of(token.target) !== Stack.of(this.#scope),
    );
    if (!isOfOther) return arn;
    const made = Construct.isConstruct(principal) ? principal.node.defaultChild : undefined;
    const name = made instanceof CfnRole ? made.roleName : made instanceof CfnUser ? made.userName : undefined;
    if (made === undefined || name === undefined || Token.isUnresolved(name)) return undefined;
    return `arn:${Aws.PARTITION}:iam::${Stack.of(made).account}:${made instanceof CfnRole ? 'role' : 'user'}/${name}`;
  }
}

const CANNOT = 'grantRead and grantOperate are for roles and users';
const WAY_OUT =
  'the API recognises only these in a request. Grant to the roles or users themselves, or give all rights with grantApi';

/** The ARN of the only role or user that a principal is. It may be a token. */
const arnIn = (principal: IPrincipal): string | undefined => {
  if (principal instanceof UnknownPrincipal || principal instanceof Group) return undefined;
  const { principalJson, conditions } = principal.policyFragment;
  const [kind, ...kinds] = Object.keys(principalJson);
  const [arn, ...arns] = principalJson.AWS ?? [];
  const isOne = kind === 'AWS' && kinds.length + arns.length + Object.keys(conditions).length === 0;
  return isOne && arn !== '*' ? arn : undefined;
};

/** A text with the names of its tokens, such as `arn:<AWS.Partition>:iam::111122223333:root`. */
const readable = (text: string): string => text.replaceAll(/\$\{Token\[(.*?)(?:\.\d+)?\]\}/g, '<$1>');

/** @param arn resolved. An object contains references. The ARN of an account is that of its root user. */
const isRoleOrUser = (arn: unknown): boolean => {
  if (typeof arn !== 'string') return !/:(?:root"|group\/)/.test(JSON.stringify(arn));
  const { kind, session } = principalOf(arn) ?? {};
  return session === undefined && (kind === 'role' || kind === 'user');
};

const sizeOf = (limited: LimitedArns): number => {
  const sizes = Object.values(limited)
    .flat()
    .map((arn) => (Token.isUnresolved(arn) ? Math.max(UNKNOWN_ARN, lengthOfKnown(arn)) : Buffer.byteLength(arn)) + 3);
  return sizes.reduce((sum, size) => sum + size, '{"read":[],"operate":[]}'.length);
};

/** The most bytes of a text whose tokens are a partition and an account. */
const lengthOfKnown = (arn: string): number =>
  Buffer.byteLength(arn.replaceAll(/\$\{Token\[.*?\]\}/g, '')) + 'aws-us-gov111122223333'.length;
