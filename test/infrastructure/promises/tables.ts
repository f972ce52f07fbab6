import { describe, expect, it } from 'vitest';
import { add, promise, set } from '../promise.ts';
import {
  entriesStay,
  rowsExpireBy,
  tablesAreOfOneKind,
  tablesArePaidByRequest,
  tablesCanBeRestored,
  tablesOutliveTheirStack,
  tablesUseTheKeyThatAwsOwns,
} from '../rules/tables.ts';
import { ofType } from '../rules/template.ts';
import { SUBJECTS } from '../templates.ts';
import { expiryAttributes } from './written-expiry.ts';

const TABLE = 'AWS::DynamoDB::Table';

/** Sets a policy of every table, which stands beside the table's properties. */
const policy = (name: 'DeletionPolicy' | 'UpdateReplacePolicy', value: string) => (template: object) => {
  for (const resource of Object.values(Reflect.get(template, 'Resources') as Record<string, { Type: string }>))
    if (resource.Type === TABLE) Object.assign(resource, { [name]: value });
};

describe('the tables', () => {
  it.each(SUBJECTS)('are seven in $name', ({ template }) => expect(ofType(template, TABLE)).toHaveLength(7));
});

promise('every table is of a kind that the rules cover', tablesAreOfOneKind, [
  ['a global table', add('NewTable', 'AWS::DynamoDB::GlobalTable'), /NewTable: is a global table/],
]);

promise('every table has point-in-time recovery', tablesCanBeRestored, [
  [
    'a table without it',
    set(TABLE, 'PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled', false),
    /PointInTimeRecoveryEnabled is false/,
  ],
  ['a new table without the setting', add('NewTable', TABLE), /NewTable: .*PointInTimeRecoveryEnabled is undefined/],
]);

promise('every table is encrypted with the free key that AWS owns', tablesUseTheKeyThatAwsOwns, [
  ['a KMS key', set(TABLE, 'SSESpecification', { SSEEnabled: true }), /SSESpecification/],
  ['SSEEnabled: false', set(TABLE, 'SSESpecification', { SSEEnabled: false }), /SSESpecification/],
]);

promise('no function can delete entries of the audit trail', entriesStay, [
  [
    'a function that can',
    (template) => {
      for (const [, properties] of ofType(template, 'AWS::IAM::Policy')) {
        const text = JSON.stringify(properties).replace(
          /"dynamodb:PutItem"(?=[^{]*"Resource":\{[^}]*TablesAudit)/,
          '"dynamodb:DeleteItem"',
        );
        Object.assign(properties, JSON.parse(text));
      }
    },
    /ApiHandler.*: may .*dynamodb:DeleteItem.* in the audit trail/,
  ],
]);

promise('every table is billed per request', tablesArePaidByRequest, [
  ['provisioned capacity', set(TABLE, 'BillingMode', 'PROVISIONED'), /BillingMode is "PROVISIONED"/],
]);

describe('the stores', () => {
  it('write the expiry of every kind of row into ExpiresAt, in seconds', async () => {
    expect(await expiryAttributes()).toEqual({
      tasks: ['ExpiresAt'],
      payloads: ['ExpiresAt'],
      locks: ['ExpiresAt'],
      batches: ['ExpiresAt'],
      nodes: ['ExpiresAt'],
      auditEntries: ['ExpiresAt'],
    });
  });
});

promise('rows expire by the attribute that stores write', rowsExpireBy('ExpiresAt'), [
  ['another attribute', set(TABLE, 'TimeToLiveSpecification.AttributeName', 'Ttl'), /"AttributeName":"Ttl"/],
  ['disabled expiry', set(TABLE, 'TimeToLiveSpecification.Enabled', false), /"Enabled":false/],
  ['a new table without the setting', add('NewTable', TABLE), /NewTable: TimeToLiveSpecification is undefined/],
]);

const [kept, thrownAway] = [SUBJECTS.filter((each) => each.kept), SUBJECTS.filter((each) => !each.kept)];

promise(
  'tables of a kept stack outlive it',
  tablesOutliveTheirStack(true),
  [
    ['tables deleted with the stack', policy('DeletionPolicy', 'Delete'), /DeletionPolicy is "Delete"/],
    ['tables deleted when replaced', policy('UpdateReplacePolicy', 'Delete'), /UpdateReplacePolicy is "Delete"/],
    [
      'missing deletion protection',
      set(TABLE, 'DeletionProtectionEnabled', false),
      /DeletionProtectionEnabled is false/,
    ],
  ],
  kept,
);

promise(
  'every table of a stage that is not kept goes with its stack',
  tablesOutliveTheirStack(false),
  [['retained tables', policy('DeletionPolicy', 'Retain'), /DeletionPolicy is "Retain"/]],
  thrownAway,
);
