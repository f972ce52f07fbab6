/** Who may use a key of somebody's own, through which service, and for what: exactly what reading and writing take. */
import { Annotations, Aws, Duration, Stack, Token } from 'aws-cdk-lib';
import {
  Grant,
  type IGrantable,
  PolicyStatement,
  type PolicyStatementProps,
  ServicePrincipal,
} from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { IConstruct } from 'constructs';
import { InvalidProps } from './invalid-props.ts';

/** How long SQS uses a data key before it asks KMS again: each sender and receiver of each queue then costs a request. */
export const KEY_REUSE = Duration.hours(1);

/** A service that asks KMS in the name of who uses it. */
export type KeyService = 'dynamodb' | 'secretsmanager' | 'sns' | 'sqs';

const READ = ['kms:Decrypt'];
/** A queue or topic makes a data key, and looks whether it can be read. */
const SEND = ['kms:Decrypt', 'kms:GenerateDataKey'];
const READ_TABLE = ['kms:Decrypt', 'kms:DescribeKey'];
/** What AWS names for tables, without its wildcards. */
const WRITE_TABLE = [
  ...READ_TABLE,
  'kms:Encrypt',
  'kms:GenerateDataKey',
  'kms:GenerateDataKeyWithoutPlaintext',
  'kms:ReEncryptFrom',
  'kms:ReEncryptTo',
];
export const KEY_USES = { read: READ, send: SEND, readTable: READ_TABLE, writeTable: WRITE_TABLE } as const;
export type KeyUse = keyof typeof KEY_USES;

/** Tables and queues take keys of their own region, and policies take no aliases of them. @throws InvalidProps */
export const checkKey = (scope: IConstruct, key: IKey | undefined): void => {
  if (key === undefined) return;
  if ('aliasName' in key)
    throw new InvalidProps(
      scope,
      'encryptionKey is an alias, by which no policy gives a right to the key: give the key itself, such as by Key.fromLookup({ aliasName }) or Key.fromKeyArn',
    );
  const [here, there] = [Stack.of(scope).region, key.env.region];
  if (Token.isUnresolved(here) || Token.isUnresolved(there) || here === there) return;
  throw new InvalidProps(
    scope,
    `encryptionKey is of ${there}, the stack of ${here}: take a key of ${here}, such as a replica of a multi-region key`,
  );
};

/** Names a service as KMS does. */
export const viaService = (service: KeyService) => ({
  'kms:ViaService': `${service}.${Aws.REGION}.${Aws.URL_SUFFIX}`,
});

/** Lets somebody use a key through a service, and in no other way. Somebody of another account by the key's policy too. */
export const grantKey = (key: IKey, grantee: IGrantable, service: KeyService, use: KeyUse): Grant =>
  Grant.addToPrincipalOrResource({
    grantee,
    resource: key,
    resourceArns: [key.keyArn],
    resourceSelfArns: ['*'],
    actions: [...KEY_USES[use]],
    conditions: { StringEquals: viaService(service) },
  });

/** Says it in the key's own policy, or, where that is not this app's, who has to. */
export const addToKeyPolicy = (scope: IConstruct, key: IKey, what: string, props: PolicyStatementProps): void => {
  const statement = new PolicyStatement({ ...props, resources: ['*'] });
  if (key.addToResourcePolicy(statement, true).statementAdded) return;
  Annotations.of(scope).addWarningV2(
    `groupage:key-policy-${what}`,
    `the policy of ${key.node.path} cannot be changed from here; without this statement in it, deployment or delivery fails: ${JSON.stringify(Stack.of(scope).resolve(statement.toJSON()))}`,
  );
};

/** CloudWatch Logs uses a key itself, for log groups of this account. */
export const letLogsUse = (scope: IConstruct, key: IKey): void =>
  addToKeyPolicy(scope, key, 'logs', {
    principals: [new ServicePrincipal(`logs.${Aws.REGION}.amazonaws.com`)],
    actions: [
      'kms:Decrypt',
      'kms:DescribeKey',
      'kms:Encrypt',
      'kms:GenerateDataKey',
      'kms:GenerateDataKeyWithoutPlaintext',
      'kms:ReEncryptFrom',
      'kms:ReEncryptTo',
    ],
    conditions: {
      ArnLike: {
        'kms:EncryptionContext:aws:logs:arn': `arn:${Aws.PARTITION}:logs:${Aws.REGION}:${Aws.ACCOUNT_ID}:log-group:*`,
      },
    },
  });

/** EventBridge puts into an encrypted queue what rules of this account match. */
export const letEventsUse = (scope: IConstruct, key: IKey): void =>
  addToKeyPolicy(scope, key, 'events', {
    principals: [new ServicePrincipal('events.amazonaws.com')],
    actions: [...SEND],
    // Not the rules' ARNs: a key of another stack would then need this one, which needs it.
    conditions: { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID } },
  });
