/** One example of each message, for the published documents and for docs/reference. */

const BATCH_ID = 'distribute-parcels/carrier=DHL/depot=MUC#1#1';
const TARGET = 'distribute-parcels/carrier=DHL/depot=MUC';
const OPERATION = 'distribute-parcels';
const AT = '2026-01-01T00:00:00.000Z';
const PAYLOAD = { carrier: 'DHL', depot: 'MUC', parcel: 7 };

export const registerMessage = { operation: OPERATION, payload: PAYLOAD, id: 'order-7', priority: 5, expiresIn: '10m' };
export const redriveMessage = { id: 'order-7', run: 1 };
export const rejectedMessage = {
  messageId: '0b5e4f6a-1c2d-4e3f-8a9b-0c1d2e3f4a5b',
  sentAt: AT,
  rejectedAt: AT,
  errors: [{ path: 'payload.depot', reason: 'is missing; the operation groups its tasks by it' }],
  body: '{"operation":"distribute-parcels","payload":{"carrier":"DHL"}}',
};

const envelope = { batchId: BATCH_ID, operation: OPERATION, target: TARGET, attempt: 1 };
export const batchCall = {
  ...envelope,
  items: [
    { id: 'order-7', payload: PAYLOAD },
    { id: 'order-8', payload: { ...PAYLOAD, parcel: 8 } },
  ],
};
export const mergedCall = {
  batchId: 'downsample/product=2#1#1',
  operation: 'downsample',
  target: 'downsample/product=2',
  attempt: 1,
  inputs: [{ id: 'scene-1', path: 's3://scenes/1' }, { id: 'scene-2' }],
  items: [{ id: 'request-1' }, { id: 'request-2' }],
};
export const batchEvent = {
  idempotencyKey: `${BATCH_ID}.3q2-7wAAAAAAAAAA`,
  traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
  ...batchCall,
};

const results = [
  { id: 'order-7', status: 'succeeded', result: { label: 'DHL-007' } },
  { id: 'order-8', status: 'failed', error: { code: 'no-such-street', message: 'Hauptstr. 0', retriable: false } },
];
export const resultsAnswer = { results };
export const inputsAnswer = {
  inputs: [
    { key: 'scene-1', status: 'succeeded' },
    { key: 'scene-2', status: 'retry', error: 'not archived yet' },
  ],
};
export const pendingAnswer = { pending: true };
export const jobReport = { batchId: BATCH_ID, results };

export const taskFailed = {
  specversion: '1.0',
  id: 'order-8.1767225600000',
  source: '/groupage/Groupage-prod-Flow/distribute-parcels',
  type: 'groupage.task.failed',
  subject: 'order-8',
  time: AT,
  datacontenttype: 'application/json',
  data: {
    id: 'order-8',
    operation: OPERATION,
    target: TARGET,
    status: 'failed',
    run: 1,
    batchId: BATCH_ID,
    attempts: 1,
    correlationId: 'cart-3',
    error: { code: 'no-such-street', message: 'Hauptstr. 0', retriable: false },
  },
};
export const taskSucceeded = {
  ...taskFailed,
  id: 'order-7.1767225600000',
  type: 'groupage.task.succeeded',
  subject: 'order-7',
  data: {
    id: 'order-7',
    operation: OPERATION,
    target: TARGET,
    status: 'succeeded',
    run: 1,
    batchId: BATCH_ID,
    attempts: 1,
    result: { label: 'DHL-007' },
  },
};

const OPENED = '2025-12-31T23:00:00.000Z';
export const fanOutCompleted = {
  specversion: '1.0',
  id: '01KDVY3C5ZKQ.1767222000000.completed',
  source: '/groupage/Groupage-prod-Flow/fan-outs',
  type: 'groupage.fan-out.completed',
  subject: '01KDVY3C5ZKQ',
  time: AT,
  datacontenttype: 'application/json',
  data: {
    id: '01KDVY3C5ZKQ',
    status: 'complete',
    because: 'all-done',
    total: 1000,
    succeeded: 998,
    failed: 2,
    userKey: 'catalog-7',
    createdAt: OPENED,
  },
};
export const fanOutExpired = {
  ...fanOutCompleted,
  id: '01KDVY3C5ZKQ.1767222000000.expired',
  type: 'groupage.fan-out.expired',
  data: {
    id: '01KDVY3C5ZKQ',
    status: 'expired',
    because: 'idle',
    total: 1000,
    succeeded: 900,
    failed: 2,
    pending: 98,
    createdAt: OPENED,
  },
};
export const fanOutFirstFailure = {
  ...fanOutCompleted,
  id: '01KDVY3C5ZKQ.1767222000000.first-failure',
  type: 'groupage.fan-out.first-failure',
  data: { id: '01KDVY3C5ZKQ', item: '01KDVY3C5ZKQ:0:17', userKey: 'catalog-7', createdAt: OPENED },
};
export const fanOutAllSucceeded = {
  ...fanOutCompleted,
  id: '01KDVY3C5ZKQ.1767222000000.all-succeeded',
  type: 'groupage.fan-out.all-succeeded',
  data: { id: '01KDVY3C5ZKQ', total: 1000, succeeded: 1000, userKey: 'catalog-7', createdAt: OPENED },
};
export const listCompleted = {
  ...fanOutCompleted,
  id: 'spring.1767222000000.completed',
  source: '/groupage/Groupage-prod-Flow/lists',
  type: 'groupage.list.completed',
  subject: 'spring',
  data: {
    id: 'spring',
    status: 'complete',
    because: 'all-done',
    total: 1000,
    succeeded: 998,
    failed: 2,
    name: 'spring catalogue',
    createdAt: OPENED,
  },
};
export const callbackEvents = [
  taskFailed,
  taskSucceeded,
  fanOutCompleted,
  fanOutExpired,
  fanOutFirstFailure,
  fanOutAllSucceeded,
  listCompleted,
] as const;

export const configFile = {
  $schema: './node_modules/groupage/contract/config.schema.json',
  operations: {
    'distribute-parcels': {
      target: ['carrier', 'depot'],
      batch: { maxSize: 50, maxWait: '2s' },
      downstream: { kind: 'http', url: 'https://parcels.example/batch', secret: { ssm: '/parcels/key' } },
      callbacks: { failed: 'ops' },
    },
  },
  destinations: { ops: { kind: 'queue', name: 'parcels-failed' } },
};
