/**
 * What a configuration names outside of the stack, and the rights to use exactly that. A name is one of the stack's own
 * account, region and partition; an ARN says itself where it is.
 */
import { Aws } from 'aws-cdk-lib';
import type { Destination, DownstreamTarget, Headers, SecretRef } from '../src/domain/config/endpoints.ts';

/** Actions on one resource. */
export interface Right {
  readonly actions: readonly string[];
  readonly resource: string;
}

/** What comes before a resource's own name in its ARN. */
const here = (service: string): string => `arn:${Aws.PARTITION}:${service}:${Aws.REGION}:${Aws.ACCOUNT_ID}:`;

/** The ARN that a name stands for. @param kind what the service puts before it, e.g. `function:` */
const arnOf = (service: string, kind: string, name: string): string =>
  name.startsWith('arn:') ? name : `${here(service)}${kind}${name}`;

/** What stands before a state machine's name, for whoever starts executions: Step Functions takes ARNs alone. */
export const stateMachineArn = (name = ''): string => arnOf('states', 'stateMachine:', name);

/** To send to a queue, whose address has to be asked for. */
const queueRight = (name: string): Right => ({
  actions: ['sqs:GetQueueUrl', 'sqs:SendMessage'],
  resource: arnOf('sqs', '', name),
});

/**
 * To read a secret. A secret's ARN ends in six characters that Secrets Manager adds to its name: the question marks
 * stand for them, and fit no longer name. A whole ARN is taken as it is.
 */
const secretRight = (ref: SecretRef): Right =>
  'ssm' in ref
    ? { actions: ['ssm:GetParameter'], resource: arnOf('ssm', 'parameter/', ref.ssm.replace(/^\//, '')) }
    : {
        actions: ['secretsmanager:GetSecretValue'],
        resource: ref.secretsManager.startsWith('arn:')
          ? ref.secretsManager
          : arnOf('secretsmanager', 'secret:', `${ref.secretsManager}-??????`),
      };

/** Of requests with these headers, that this secret signs. */
const requestRights = ({
  headers,
  secret,
}: {
  readonly headers: Headers;
  readonly secret: SecretRef | null;
}): Right[] =>
  [secret, ...Object.values(headers)].flatMap((value) =>
    value === null || typeof value === 'string' ? [] : [secretRight(value)],
  );

/** To call a downstream. */
export const downstreamRights = (target: DownstreamTarget): Right[] => {
  switch (target.kind) {
    case 'http':
      return requestRights(target);
    case 'lambda':
      return [{ actions: ['lambda:InvokeFunction'], resource: arnOf('lambda', 'function:', target.function) }];
    case 'step-functions':
      return [{ actions: ['states:StartExecution'], resource: stateMachineArn(target.stateMachine) }];
    case 'queue':
      return [queueRight(target.name)];
  }
};

/** Each once, however many operations share it. */
export const distinct = (rights: readonly Right[]): Right[] => [
  ...new Map(rights.map((right) => [JSON.stringify(right), right])).values(),
];

/** Of the λ that delivers events: to tell a destination. */
export const destinationRights = (destination: Destination): Right[] => {
  switch (destination.kind) {
    case 'queue':
      return [queueRight(destination.name)];
    case 'topic':
      return [{ actions: ['sns:Publish'], resource: topicArn(destination.name) }];
    case 'event-bus':
      return [{ actions: ['events:PutEvents'], resource: arnOf('events', 'event-bus/', destination.name) }];
    case 'http':
      return requestRights(destination);
  }
};

/** What stands before a topic's name, for whoever publishes: SNS takes ARNs alone. */
export const topicArn = (name = ''): string => arnOf('sns', '', name);
