import { describe, expect, it } from 'vitest';
import { add, promise, set } from '../promise.ts';
import {
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

/** Sets what stands beside a table's properties. */
const policy = (name: 'DeletionPolicy' | 'UpdateReplacePolicy', value: string) => (template: object) => {
  for (const resource of Object.values(Reflect.get(template, 'Resources') as Record<string, { Type: string }>))
    if (resource.Type === TABLE) Object.assign(resource, { [name]: value });
};

describe('the tables', () => {
  it.each(SUBJECTS)('are six in $name', ({ template }) => expect(ofType(template, TABLE)).toHaveLength(6));
});

promise('every table is one that these rules know', tablesAreOfOneKind, [
  ['a global one', add('NewTable', 'AWS::DynamoDB::GlobalTable'), /NewTable: is a global table/],
]);

promise('every table can be restored to a point in time', tablesCanBeRestored, [
  [
    'one that cannot',
    set(TABLE, 'PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled', false),
    /PointInTimeRecoveryEnabled is false/,
  ],
  ['a new one that does not say', add('NewTable', TABLE), /NewTable: .*PointInTimeRecoveryEnabled is undefined/],
]);

promise('every table is encrypted with the key that AWS owns, at no cost', tablesUseTheKeyThatAwsOwns, [
  [
    'one with a key that costs by the request',
    set(TABLE, 'SSESpecification', { SSEEnabled: true }),
    /SSESpecification/,
  ],
  ['one that reads as if it were not', set(TABLE, 'SSESpecification', { SSEEnabled: false }), /SSESpecification/],
]);

promise('every table is paid by the request', tablesArePaidByRequest, [
  ['one with capacity set aside', set(TABLE, 'BillingMode', 'PROVISIONED'), /BillingMode is "PROVISIONED"/],
]);

describe('the end of a row', () => {
  it('is written into one attribute, in seconds, by tasks, payloads, locks, batches and the nodes of fleets', async () => {
    expect(await expiryAttributes()).toEqual({
      tasks: ['ExpiresAt'],
      payloads: ['ExpiresAt'],
      locks: ['ExpiresAt'],
      batches: ['ExpiresAt'],
      nodes: ['ExpiresAt'],
    });
  });
});

promise('every table lets rows expire by the attribute that is written', rowsExpireBy('ExpiresAt'), [
  ['one that looks elsewhere', set(TABLE, 'TimeToLiveSpecification.AttributeName', 'Ttl'), /"AttributeName":"Ttl"/],
  ['one that keeps everything', set(TABLE, 'TimeToLiveSpecification.Enabled', false), /"Enabled":false/],
  ['a new one that does not say', add('NewTable', TABLE), /NewTable: TimeToLiveSpecification is undefined/],
]);

const [kept, thrownAway] = [SUBJECTS.filter((each) => each.kept), SUBJECTS.filter((each) => !each.kept)];

promise(
  'every table of production, and of the construct, outlives its stack and its own replacement',
  tablesOutliveTheirStack(true),
  [
    ['one that goes with its stack', policy('DeletionPolicy', 'Delete'), /DeletionPolicy is "Delete"/],
    ['one that goes when replaced', policy('UpdateReplacePolicy', 'Delete'), /UpdateReplacePolicy is "Delete"/],
    [
      'one that anybody may delete',
      set(TABLE, 'DeletionProtectionEnabled', false),
      /DeletionProtectionEnabled is false/,
    ],
  ],
  kept,
);

promise(
  'every table of another stage goes with its stack',
  tablesOutliveTheirStack(false),
  [['one that is left over', policy('DeletionPolicy', 'Retain'), /DeletionPolicy is "Retain"/]],
  thrownAway,
);
