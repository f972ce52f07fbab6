/** Names of tables, queues and functions, where somebody wants to choose how they begin. */
import { Token } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';
import { InvalidProps } from './invalid-props.ts';

/** What tables, queues and functions may all be called. */
const PREFIX = /^[a-z](?:[a-z0-9_-]{0,38}[a-z0-9])?$/i;

/** @returns `PREFIX-name`; undefined where CloudFormation makes the name. @throws InvalidProps */
export const physicalName = (scope: IConstruct, prefix: string | undefined, name: string): string | undefined => {
  if (prefix === undefined) return undefined;
  if (Token.isUnresolved(prefix))
    throw new InvalidProps(scope, 'prefix must be known at synth: a parameter or an attribute is not, write it out');
  if (!PREFIX.test(prefix))
    throw new InvalidProps(
      scope,
      `prefix must be a letter and up to 39 letters, digits, - or _, the last of them a letter or a digit (queues have at most 80, functions at most 64), not ${JSON.stringify(prefix)}`,
    );
  return `${prefix}-${name}`;
};
