/** Compares what functions use with what their roles grant. */
import type { Use } from './use.ts';

export interface FunctionUse extends Use {
  readonly functionName: string;
}

/** A right of a role's statement; action and resource may end in `*`. */
export interface Grant extends Use {
  readonly functionName: string;
}

/** In the form of the lists: `Flow-ApiHandler-Function dynamodb:GetItem Tables-Task`. */
export const printed = ({ functionName, action, resource }: FunctionUse): string =>
  `${functionName} ${action} ${resource}`;

const covers = (pattern: string, text: string): boolean =>
  pattern.endsWith('*') ? text.startsWith(pattern.slice(0, -1)) : pattern === text;

const isFor = (grant: Grant, use: FunctionUse): boolean =>
  grant.functionName === use.functionName && covers(grant.action, use.action) && covers(grant.resource, use.resource);

/** Uses that AWS would refuse. */
export const missingGrants = (grants: readonly Grant[], uses: readonly FunctionUse[]): FunctionUse[] =>
  uses.filter((use) => !grants.some((grant) => isFor(grant, use)));

/** Grants without a use. */
export const unusedGrants = (grants: readonly Grant[], uses: readonly FunctionUse[]): Grant[] =>
  grants.filter((grant) => !uses.some((use) => isFor(grant, use)));
