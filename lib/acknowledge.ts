/** Findings of cdk-nag that are intended, with reasons. */
import { Validations } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';

/**
 * Acknowledges a finding on the construct itself, so that a check of the user's whole app reads the reason and does not
 * report it.
 * @param id of the rule.
 */
export const acknowledge = (construct: IConstruct, id: string, reason: string): void =>
  Validations.of(construct).acknowledge({ id, reason });
