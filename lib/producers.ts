/**
 * Grants to send register messages, for roles of this app, other accounts or organizations. If the queue is encrypted
 * with a customer's key, the grants include use of the key.
 */

import { Token } from 'aws-cdk-lib';
import {
  AccountPrincipal,
  type Grant,
  type IGrantable,
  type IPrincipal,
  OrganizationPrincipal,
  PolicyStatement,
} from 'aws-cdk-lib/aws-iam';
import type { IConstruct } from 'constructs';
import { addToKeyPolicy, grantKey, KEY_USES, viaService } from './encryption.ts';
import { InvalidProps } from './invalid-props.ts';
import type { WorkingQueue } from './queues.ts';

const SEND = ['sqs:SendMessage', 'sqs:GetQueueAttributes', 'sqs:GetQueueUrl'];
const ACCOUNT = /^\d{12}$/;
const ORGANIZATION = /^o-[a-z0-9]{10,32}$/;

/** Grants to send to a queue and to look up its URL. */
export const grantSend = ({ queue, encryptionKey }: WorkingQueue, sender: IGrantable): Grant => {
  const grant = queue.grant(sender, ...SEND);
  return encryptionKey ? grant.combine(grantKey(encryptionKey, sender, 'sqs', 'send')) : grant;
};

/** In each account, its own policies decide which roles may send. @throws InvalidProps */
export const grantSendFromAccounts = (scope: IConstruct, queue: WorkingQueue, accounts: readonly string[]): void => {
  const principals = each(scope, accounts, ACCOUNT, 'account', 'twelve digits', (id) => new AccountPrincipal(id));
  allow(scope, queue, 'accounts', principals);
};

/** In each account of these organizations, its own policies decide which roles may send. @throws InvalidProps */
export const grantSendFromOrganizations = (scope: IConstruct, queue: WorkingQueue, ids: readonly string[]): void => {
  // Add one statement for each organization, because each organization needs its own condition.
  for (const principal of each(scope, ids, ORGANIZATION, 'organization', 'o-…', (id) => new OrganizationPrincipal(id)))
    allow(scope, queue, 'organizations', [principal]);
};

const each = (
  scope: IConstruct,
  ids: readonly string[],
  pattern: RegExp,
  what: string,
  form: string,
  make: (id: string) => IPrincipal,
): IPrincipal[] => {
  if (ids.length === 0) throw new InvalidProps(scope, `name at least one ${what}`);
  const wrong = ids.find((id) => !(Token.isUnresolved(id) || pattern.test(id)));
  if (wrong !== undefined)
    throw new InvalidProps(scope, `the id of an ${what} must be ${form}, not ${JSON.stringify(wrong)}`);
  return ids.map(make);
};

const allow = (
  scope: IConstruct,
  { queue, encryptionKey }: WorkingQueue,
  who: string,
  principals: IPrincipal[],
): void => {
  queue.addToResourcePolicy(new PolicyStatement({ principals, actions: SEND, resources: [queue.queueArn] }));
  if (!encryptionKey) return;
  addToKeyPolicy(scope, encryptionKey, who, {
    principals,
    actions: [...KEY_USES.send],
    conditions: { StringEquals: viaService('sqs') },
  });
};
