import { copy, promise, remove, set } from '../promise.ts';
import { identitiesArePinned } from '../rules/identity.ts';
import type { Template } from '../rules/template.ts';
import { OURS, THEIRS } from '../templates.ts';

const key = (hash: string, range?: string) => [
  { AttributeName: hash, KeyType: 'HASH' },
  ...(range ? [{ AttributeName: range, KeyType: 'RANGE' }] : []),
];
const attributes = (types: Record<string, string>) =>
  Object.entries(types).map(([AttributeName, AttributeType]) => ({ AttributeName, AttributeType }));

/** An index over keys alone: DynamoDB rewrites each further projected attribute with every change. */
const index = (IndexName: string, ...keys: [string, string]) => ({
  IndexName,
  KeySchema: key(...keys),
  Projection: { ProjectionType: 'KEYS_ONLY' },
});

const TASK = {
  KeySchema: key('Id'),
  AttributeDefinitions: attributes({ Id: 'S', FailedTarget: 'S', FinishedAt: 'N' }),
  GlobalSecondaryIndexes: [index('FailedByTarget', 'FailedTarget', 'FinishedAt')],
};
const BATCH_LOCK = {
  KeySchema: key('Target', 'Entry'),
  AttributeDefinitions: attributes({ Target: 'S', Entry: 'S', Operation: 'S' }),
  GlobalSecondaryIndexes: [index('Targets', 'Operation', 'Target')],
};
const BATCH = {
  KeySchema: key('BatchId'),
  AttributeDefinitions: attributes({ BatchId: 'S', Target: 'S', SealedAt: 'N', UnderWay: 'S', OldestAt: 'N' }),
  GlobalSecondaryIndexes: [
    index('ByTarget', 'Target', 'SealedAt'),
    // These attributes change only with a failed attempt. So a batch that succeeds at once pays nothing for the index.
    {
      ...index('UnderWay', 'UnderWay', 'OldestAt'),
      Projection: {
        NonKeyAttributes: ['Target', 'TaskCount', 'LastAttempt', 'ExpiresAt'],
        ProjectionType: 'INCLUDE',
      },
    },
  ],
};
const FAN_OUT = {
  KeySchema: key('Id'),
  AttributeDefinitions: attributes({ Id: 'S', Patrol: 'S', CheckAt: 'N' }),
  GlobalSecondaryIndexes: [index('ByCheckAt', 'Patrol', 'CheckAt')],
};
const LIST = {
  KeySchema: key('Id', 'Entry'),
  AttributeDefinitions: attributes({ Id: 'S', Entry: 'S' }),
};
const FLEET = {
  KeySchema: key('Fleet', 'Entry'),
  AttributeDefinitions: attributes({ Fleet: 'S', Entry: 'S' }),
};
const AUDIT = {
  KeySchema: key('Month', 'Entry'),
  AttributeDefinitions: attributes({ Month: 'S', Entry: 'S' }),
};
/** Without a name, so that two stages do not collide; not FIFO. */
const ANY = {};
const urlOf = (fn: string) => ({ TargetFunctionArn: { 'Fn::GetAtt': [fn, 'Arn'] } });

/**
 * The identities in every stage. Never change a line: a deployment would start with an empty table or queue. Only a new
 * index may be added to a table.
 */
const PINNED = {
  TablesTaskB19EC4F8: TASK,
  TablesBatchLock9626B399: BATCH_LOCK,
  TablesBatch5B4FD9E3: BATCH,
  TablesFanOut3A7CD797: FAN_OUT,
  TablesList140E571F: LIST,
  TablesFleetTable85CCF76B: FLEET,
  TablesAuditCEFF9E0F: AUDIT,
  FlowRegisterQueue144E2D8C: ANY,
  FlowRegisterDeadLetters8BF888A5: ANY,
  FlowElectQueue767CF7C8: ANY,
  FlowElectDeadLetters753816B1: ANY,
  FlowGroupQueueF899C29C: ANY,
  FlowGroupDeadLetters4AEDF066: ANY,
  FlowBatchQueueC75544D2: ANY,
  FlowBatchDeadLetters75842703: ANY,
  FlowRejectedQueue0366EBA6: ANY,
  FlowRegisterHandlerLogsACEC5B32: ANY,
  FlowElectHandlerLogs8BEB832E: ANY,
  FlowGroupHandlerLogs7522941A: ANY,
  FlowBatchHandlerLogsB0A0E759: ANY,
  FlowSweepHandlerLogs61D54F3E: ANY,
  FlowApiHandlerLogs0D2D3669: ANY,
  FlowApiHandlerFunctionFunctionUrlACF6C077: urlOf('FlowApiHandlerFunction9A5FE1BF'),
};

/** The ids of `new Groupage(stack, 'Groupage', …)` directly below a stack, which users' stacks have deployed. */
const THEIR_PINNED = {
  GroupageTablesTask2B85ACCC: TASK,
  GroupageTablesBatchLock6677D351: BATCH_LOCK,
  GroupageTablesBatchF0EF8A7D: BATCH,
  GroupageTablesFanOutC79487F9: FAN_OUT,
  GroupageTablesListCE842444: LIST,
  GroupageTablesFleetTableA7198F1B: FLEET,
  GroupageTablesAudit317FED3A: AUDIT,
  GroupageFlowRegisterQueue9E02D6CB: ANY,
  GroupageFlowRegisterDeadLetters253D6EF7: ANY,
  GroupageFlowElectQueue023EC74F: ANY,
  GroupageFlowElectDeadLetters257B82C7: ANY,
  GroupageFlowGroupQueue757BD0E3: ANY,
  GroupageFlowGroupDeadLettersA26725E7: ANY,
  GroupageFlowBatchQueue1324FC76: ANY,
  GroupageFlowBatchDeadLettersDDACF10E: ANY,
  GroupageFlowRejectedQueueF1E905DE: ANY,
  GroupageFlowRegisterHandlerLogs802B2069: ANY,
  GroupageFlowElectHandlerLogs5D46E41E: ANY,
  GroupageFlowGroupHandlerLogsBEFDF3F5: ANY,
  GroupageFlowBatchHandlerLogs309E977A: ANY,
  GroupageFlowSweepHandlerLogsBF1F58C8: ANY,
  GroupageFlowApiHandlerLogs276577B7: ANY,
  GroupageFlowApiHandlerFunctionFunctionUrl8604C4AA: urlOf('GroupageFlowApiHandlerFunction7C6E3EB9'),
};

const [TABLE, QUEUE] = ['AWS::DynamoDB::Table', 'AWS::SQS::Queue'];
const renamed = (type: string) => (template: Template) => {
  copy(type, /./, 'Renamed')(template);
  remove(type)(template);
};

promise(
  'an update replaces no table, queue, log or URL',
  identitiesArePinned(PINNED),
  [
    ['a table under another id', renamed(TABLE), /TablesTask.*: is missing.*\n.*Renamed: is new/],
    ['a queue under another id', renamed(QUEUE), /FlowRegisterDeadLetters.*: is missing.*\n.*Renamed: is new/],
    ['a table with another key', set(TABLE, 'KeySchema', key('Id', 'Run')), /TablesTask.*would be replaced/],
    [
      'a key of another type',
      set(TABLE, 'AttributeDefinitions', attributes({ Id: 'N' })),
      /TablesTask.*would be replaced.*"AttributeType":"N"/,
    ],
    [
      'an index that projects more',
      set(TABLE, 'GlobalSecondaryIndexes.0.Projection.ProjectionType', 'ALL'),
      /TablesTask.*would be replaced.*"ProjectionType":"ALL"/,
    ],
    ['a table with a name', set(TABLE, 'TableName', 'tasks'), /would be replaced.*"TableName":"tasks"/],
    ['a queue with a name', set(QUEUE, 'QueueName', 'tasks'), /would be replaced.*"QueueName":"tasks"/],
    ['a FIFO queue', set(QUEUE, 'FifoQueue', true), /would be replaced.*"FifoQueue":true/],
    [
      'another function behind the URL',
      set('AWS::Lambda::Url', 'TargetFunctionArn', { Ref: 'X' }),
      /Url.*would be replaced/,
    ],
  ],
  OURS,
);

promise(
  "an update of a user's stack replaces nothing",
  identitiesArePinned(THEIR_PINNED),
  [['a table under another id', renamed(TABLE), /GroupageTablesTask.*: is missing/]],
  [THEIRS],
);
