/** The names of tables, queues and functions if the user sets a prefix. */
import { Token } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';
import { InvalidProps } from './invalid-props.ts';

/** The characters that are valid for tables, queues and functions. */
const PREFIX = /^[a-z](?:[a-z0-9_-]{0,38}[a-z0-9])?$/i;

/**
 * @returns `PREFIX-name`, or undefined if CloudFormation generates the name.
 * @throws InvalidProps
 */
export const physicalName = (scope: IConstruct, prefix: string | undefined, name: string): string | undefined => {
  if (prefix === undefined) return undefined;
  if (Token.isUnresolved(prefix))
    throw new InvalidProps(
      scope,
      'prefix must be known at synth, but it is a parameter or an attribute: write it as a string',
    );
  if (!PREFIX.test(prefix))
    throw new InvalidProps(
      scope,
      `prefix must be a letter followed by up to 39 letters, digits, - or _, and end with a letter or a digit (a queue name has at most 80 characters, a function name at most 64), not ${JSON.stringify(prefix)}`,
    );
  return `${prefix}-${name}`;
};
