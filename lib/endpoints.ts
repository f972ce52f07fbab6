/**
 * The resources outside the stack that a configuration names, and the rights to use only these resources. A plain name
 * stands for a resource in the stack's own account, region and partition. An ARN contains account, region and
 * partition.
 */
import { Aws } from 'aws-cdk-lib';
import type { Destination, DownstreamTarget, Headers, SecretRef } from '../src/domain/config/endpoints.ts';
import { type Auth, secretsOfAuth } from '../src/domain/config/http-format.ts';

/** Actions on one resource. */
export interface Right {
  readonly actions: readonly string[];
  readonly resource: string;
}

/** The part of an ARN before the resource name. */
const here = (service: string): string => `arn:${Aws.PARTITION}:${service}:${Aws.REGION}:${Aws.ACCOUNT_ID}:`;

/** The ARN for a name. @param kind the prefix before the name within the service, for example `function:`. */
const arnOf = (service: string, kind: string, name: string): string =>
  name.startsWith('arn:') ? name : `${here(service)}${kind}${name}`;

/**
 * The ARN of a state machine, or without a name the prefix of such ARNs. Needed because Step Functions accepts only
 * ARNs.
 */
export const stateMachineArn = (name = ''): string => arnOf('states', 'stateMachine:', name);

/** The rights to send to a queue, including to look up its URL. */
const queueRight = (name: string): Right => ({
  actions: ['sqs:GetQueueUrl', 'sqs:SendMessage'],
  resource: arnOf('sqs', '', name),
});

/**
 * The right to read a secret. A secret's ARN ends with six characters that Secrets Manager adds to the name. The
 * question marks stand for these characters, so that no longer name matches. If an ARN is given, it is used unchanged.
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

/** The rights to read the secrets in these headers, and the secret that signs the requests. */
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

/** The rights that an authorization needs: to read its secrets, or to do what a signed request asks for. */
const authRights = (auth: Auth | null): Right[] => [
  ...secretsOfAuth(auth).map(secretRight),
  ...(auth?.kind === 'sigv4' ? [{ actions: [auth.action], resource: auth.resource }] : []),
];

/** The rights to call a downstream. */
export const downstreamRights = (target: DownstreamTarget): Right[] => {
  switch (target.kind) {
    case 'http':
      return [...requestRights(target), ...authRights(target.auth)];
    case 'lambda':
      return [{ actions: ['lambda:InvokeFunction'], resource: arnOf('lambda', 'function:', target.function) }];
    case 'step-functions':
      return [{ actions: ['states:StartExecution'], resource: stateMachineArn(target.stateMachine) }];
    case 'queue':
      return [queueRight(target.name)];
  }
};

/** Removes duplicate rights, because operations may share a downstream. */
export const distinct = (rights: readonly Right[]): Right[] => [
  ...new Map(rights.map((right) => [JSON.stringify(right), right])).values(),
];

/** The callback function's rights to send to a destination. */
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

/** The ARN of a topic, or without a name the prefix of such ARNs. Needed because SNS accepts only ARNs. */
export const topicArn = (name = ''): string => arnOf('sns', '', name);
