/** Records findings of cdk-nag that are intended, with the reason for each. */
import { Validations } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';

/**
 * Acknowledges a finding on the construct itself, so that cdk-nag does not report the finding when it checks the user's
 * app.
 * @param id the id of the rule.
 */
export const acknowledge = (construct: IConstruct, id: string, reason: string): void =>
  Validations.of(construct).acknowledge({ id, reason });
