/** The configuration is bundled with the functions' code, so it must not have values that are known only at deployment (CDK tokens). */
import { Token } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';
import { InvalidProps } from './invalid-props.ts';

/** Goes into descriptions of alarms alone, which CloudFormation writes. */
const WRITTEN_BY_CLOUDFORMATION = 'alarms.runbook';

/** @throws InvalidProps for a name, an ARN or a URL that CloudFormation makes */
export const checkKnown = (scope: IConstruct, config: unknown): void => {
  const [unknown] = unknownIn(config, '').filter((path) => path !== WRITTEN_BY_CLOUDFORMATION);
  if (unknown !== undefined)
    throw new InvalidProps(
      scope,
      `${unknown} of the configuration is known only when it is deployed, and the functions read it before: name what it stands for yourself, and write that name; of a destination write any, and use grantCallbacks`,
    );
};

/** Paths of values that are not known yet. */
const unknownIn = (value: unknown, path: string): string[] => {
  if (Token.isUnresolved(value)) return [path];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, each]) => unknownIn(each, path === '' ? name : `${path}.${name}`));
};
