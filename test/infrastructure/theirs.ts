/** The construct in a user's stack, with the props that a test needs. */
import { App, Stack, type StackProps } from 'aws-cdk-lib';
import { Template as Synthesised } from 'aws-cdk-lib/assertions';
import type { CfnElement } from 'aws-cdk-lib/core';
import type { IConstruct } from 'constructs';
import { Groupage, type GroupageProps } from '../../lib/groupage.ts';
import type { Template } from './rules/template.ts';
import { noCode, OPERATIONS } from './templates.ts';

export const theirStack = (props: StackProps = {}, id = 'TheirStack'): Stack => new Stack(new App(), id, props);

export const groupageIn = (stack: Stack, props: Partial<GroupageProps> = {}, id = 'Groupage'): Groupage =>
  new Groupage(stack, id, { config: { operations: OPERATIONS }, code: noCode, ...props });

/** A template with its outputs. */
export interface Whole extends Template {
  readonly Outputs?: Readonly<Record<string, { readonly Value: unknown; readonly Description?: string }>>;
}

export const templateOf = (stack: Stack): Whole => Synthesised.fromStack(stack).toJSON() as Whole;

/** The logical id of a construct. */
export const logicalId = (construct: IConstruct): string =>
  Stack.of(construct).getLogicalId(construct.node.defaultChild as CfnElement);
