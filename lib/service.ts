/**
 * The name that distinguishes instances of an account in metrics, events, executions, outputs and on the command line.
 */
import { createHash } from 'node:crypto';
import { Stack, Token } from 'aws-cdk-lib';
import type { Construct, IConstruct } from 'constructs';
import { InvalidProps } from './invalid-props.ts';

/**
 * The characters that a name may have. The name becomes a dimension of metrics and part of the source of events, and
 * users type it on the command line.
 */
const SERVICE = /^[a-z0-9](?:[a-z0-9._/-]{0,126}[a-z0-9])?$/i;

/** The names of one instance in a stack. */
export interface Instance {
  /** The name of the instance. Undefined if it has the name of its stack. */
  readonly service: string | undefined;
  /**
   * The id of the instance within its stack: prefix of the names of its outputs, and suffix of the stack's name on the
   * command line. Empty for the first instance.
   */
  readonly id: string;
}

/** Another instance in the same stack. */
interface Sibling extends IConstruct {
  readonly flow: { readonly service: string };
}

/**
 * The first instance of a stack has the stack's name. The name of a later instance is the stack's name and the path of
 * the construct, unless a name or prefix is given.
 *
 * @param siblings instances that were created before this one.
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
      `service must have 1 to 128 letters, digits, . _ - or /, and begin and end with a letter or a digit, not ${JSON.stringify(given)}`,
    );
  const same = siblings.find(({ flow }) => flow.service === (service ?? stack.stackName));
  if (same)
    throw new InvalidProps(
      scope,
      `its metrics would mix with those of ${same.node.path}, which has the service ${JSON.stringify(service)} too: give one of the two another service`,
    );
  return { service, id };
};

/** The path of the construct in its stack: the ids on the path, joined as in logical ids. */
const placeIn = (stack: Stack, { node }: IConstruct): string =>
  node.path
    .slice(stack.node.path.length)
    .split('/')
    .map((part) => part.replace(/[^a-z0-9]/gi, ''))
    .join('');

/** Prefix of the names of an instance's executions: letters and digits, different for each instance. */
export const executionTag = ({ node }: IConstruct, service: string): string =>
  createHash('sha256')
    .update(Token.isUnresolved(service) ? node.addr : service)
    .digest('hex')
    .slice(0, 8);
