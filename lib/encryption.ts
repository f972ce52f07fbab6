/**
 * Grants use of a customer's KMS key to a grantee, through one service, and with only the actions that reading or
 * writing needs.
 */
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

/** How long SQS reuses a data key. After that time, each sender and receiver of each queue causes a KMS request. */
export const KEY_REUSE = Duration.hours(1);

/** A service that calls KMS on behalf of its caller. */
export type KeyService = 'dynamodb' | 'secretsmanager' | 'sns' | 'sqs';

const READ = ['kms:Decrypt'];
/** The actions for sending: a queue or topic generates a data key and checks that the key can be decrypted. */
const SEND = ['kms:Decrypt', 'kms:GenerateDataKey'];
const READ_TABLE = ['kms:Decrypt', 'kms:DescribeKey'];
/** The actions that the AWS documentation lists for tables, without the wildcards that it uses. */
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

/**
 * Checks a key. Tables and queues accept only keys of their own region, and a policy cannot name a key by its alias.
 * @throws InvalidProps
 */
export const checkKey = (scope: IConstruct, key: IKey | undefined): void => {
  if (key === undefined) return;
  if ('aliasName' in key)
    throw new InvalidProps(
      scope,
      'encryptionKey is an alias, and no policy can grant rights to a key through an alias: pass the key itself, for example from Key.fromLookup({ aliasName }) or Key.fromKeyArn',
    );
  const [here, there] = [Stack.of(scope).region, key.env.region];
  if (Token.isUnresolved(here) || Token.isUnresolved(there) || here === there) return;
  throw new InvalidProps(
    scope,
    `encryptionKey is in ${there}, but the stack is in ${here}: use a key in ${here}, for example a replica of a multi-region key`,
  );
};

/** The condition that a request comes through a service, in KMS's names. */
export const viaService = (service: KeyService) => ({
  'kms:ViaService': `${service}.${Aws.REGION}.${Aws.URL_SUFFIX}`,
});

/**
 * Grants use of a key through one service only. For a grantee of another account, the statement is added to the key's
 * policy too.
 */
export const grantKey = (key: IKey, grantee: IGrantable, service: KeyService, use: KeyUse): Grant =>
  Grant.addToPrincipalOrResource({
    grantee,
    resource: key,
    resourceArns: [key.keyArn],
    resourceSelfArns: ['*'],
    actions: [...KEY_USES[use]],
    conditions: { StringEquals: viaService(service) },
  });

/**
 * Adds a statement to the key's policy. If this app cannot change that policy, it adds a warning that shows the
 * statement to add.
 */
export const addToKeyPolicy = (scope: IConstruct, key: IKey, what: string, props: PolicyStatementProps): void => {
  const statement = new PolicyStatement({ ...props, resources: ['*'] });
  if (key.addToResourcePolicy(statement, true).statementAdded) return;
  Annotations.of(scope).addWarningV2(
    `groupage:key-policy-${what}`,
    `the policy of ${key.node.path} cannot be changed from this app, and without this statement deployment or delivery fails. Add it to the key policy: ${JSON.stringify(Stack.of(scope).resolve(statement.toJSON()))}`,
  );
};

/** Lets CloudWatch Logs use a key for log groups of this account. */
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

/** Lets EventBridge send events to an encrypted queue for rules of this account. */
export const letEventsUse = (scope: IConstruct, key: IKey): void =>
  addToKeyPolicy(scope, key, 'events', {
    principals: [new ServicePrincipal('events.amazonaws.com')],
    actions: [...SEND],
    // The condition names the account, not the ARNs of the rules. With ARNs, a key in another stack would make that
    // stack depend on this stack, which already depends on the key's stack.
    conditions: { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID } },
  });
