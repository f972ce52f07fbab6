/** The construct in a user's stack, with the props that a test needs. */
import { App, Stack, type StackProps } from 'aws-cdk-lib';
import type { CfnElement } from 'aws-cdk-lib/core';
import type { IConstruct } from 'constructs';
import { Groupage, type GroupageProps } from '../../lib/groupage.ts';
import { noCode, OPERATIONS } from './templates.ts';

export const theirStack = (props: StackProps = {}, id = 'TheirStack'): Stack => new Stack(new App(), id, props);

export const groupageIn = (stack: Stack, props: Partial<GroupageProps> = {}, id = 'Groupage'): Groupage =>
  new Groupage(stack, id, { config: { operations: OPERATIONS }, code: noCode, ...props });

/** The logical id of a construct. */
export const logicalId = (construct: IConstruct): string =>
  Stack.of(construct).getLogicalId(construct.node.defaultChild as CfnElement);
