/** What cdk-nag finds, and why it is meant to be so. */
import { Validations } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';

/** On the very construct, so that a check of somebody's whole app sees the reason and is quiet. @param id of the rule. */
export const acknowledge = (construct: IConstruct, id: string, reason: string): void =>
  Validations.of(construct).acknowledge({ id, reason });
