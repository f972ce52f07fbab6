/** What tells one instance of an account from another: in metrics, events, executions, outputs and on the command line. */
import { createHash } from 'node:crypto';
import { Stack, Token } from 'aws-cdk-lib';
import type { Construct, IConstruct } from 'constructs';
import { InvalidProps } from './invalid-props.ts';

/** Becomes a dimension of metrics and part of the source of events, and is typed on the command line. */
const SERVICE = /^[a-z0-9](?:[a-z0-9._/-]{0,126}[a-z0-9])?$/i;

/** One of several in a stack, or the only one. */
export interface Instance {
  /** What is not called as the stack is. */
  readonly service: string | undefined;
  /** Begins the names of its outputs, and stands behind the stack's name on the command line; empty for the first. */
  readonly id: string;
}

/** An instance as the others of its stack see it. */
interface Sibling extends IConstruct {
  readonly flow: { readonly service: string };
}

/**
 * The first instance of a stack is called as the stack is, as ever; those that are made later by their place in it, unless a
 * name or a prefix was given.
 *
 * @param siblings those that were made before.
 * @throws InvalidProps
 */
export const instanceOf = (
  scope: Construct,
  { service: given, prefix }: { readonly service?: string; readonly prefix?: string },
  siblings: readonly Sibling[],
): Instance => {
  const stack = Stack.of(scope);
  const id = siblings.length === 0 ? '' : placeIn(stack, scope);
  const service = given ?? prefix ?? (id === '' ? undefined : `${stack.stackName}/${id}`);
  if (given !== undefined && !(Token.isUnresolved(given) || SERVICE.test(given)))
    throw new InvalidProps(
      scope,
      `service must be 1 to 128 letters, digits, . _ - or /, and begin and end with a letter or a digit, not ${JSON.stringify(given)}`,
    );
  const same = siblings.find(({ flow }) => flow.service === (service ?? stack.stackName));
  if (same)
    throw new InvalidProps(
      scope,
      `its metrics would be those of ${same.node.path}, which is called ${JSON.stringify(service)} too: give one of them another service`,
    );
  return { service, id };
};

/** The ids on the way to it, as logical ids have them. */
const placeIn = (stack: Stack, { node }: IConstruct): string =>
  node.path
    .slice(stack.node.path.length)
    .split('/')
    .map((part) => part.replace(/[^a-z0-9]/gi, ''))
    .join('');

/** Begins the names of an instance's executions: letters and digits, unlike those of any other's. */
export const executionTag = ({ node }: IConstruct, service: string): string =>
  createHash('sha256')
    .update(Token.isUnresolved(service) ? node.addr : service)
    .digest('hex')
    .slice(0, 8);
