/** At least one example of each event that steps report. The list does not compile if an event is missing. */
import type { FlowEvent } from '../../src/domain/events/events.ts';
import type { FanOutId } from '../../src/domain/fan-out-ids.ts';
import type { LimitName } from '../../src/domain/ids.ts';
import type { BucketId } from '../../src/domain/limits/bucket-id.ts';
import type { ClaimKey, ListId } from '../../src/domain/lists/ids.ts';
import { batchId, id, NOW, operationName, target } from './factories.ts';

type Events = { readonly [Name in FlowEvent['event']]: readonly Extract<FlowEvent, { readonly event: Name }>[] };

const operation = operationName('ship');
const where = target('ship/depot=MUC');
const batch = { batchId: batchId('ship/depot=MUC#1#1'), operation };
const letter = { queue: 'elect', messageId: 'm' };
const fanOut = 'f' as FanOutId;
const ended = { event: 'fan-out-ended', fanOut, because: 'all-done', total: 2, failed: 0 } as const;
const repaired = { event: 'repaired', operation, target: where, since: NOW } as const;
const settled = { event: 'settled', operation, target: where, tasks: 1 } as const;
const finished = { ...batch, event: 'finished', counts: { succeeded: 5, failed: 2 } } as const;

const EVENTS: Events = {
  registered: [{ event: 'registered', operation, tasks: 2, duplicates: 0 }],
  redriven: [{ event: 'redriven', operation, tasks: 1 }],
  settled: [
    { ...settled, how: 'superseded' },
    { ...settled, how: 'expired' },
  ],
  blocked: [{ event: 'blocked', operation, target: where }],
  granted: [
    {
      event: 'granted',
      bucket: 'limit:vendor' as BucketId,
      limit: 'vendor' as LimitName,
      operation,
      waited: 5_000,
      ahead: 1_000,
    },
  ],
  'limit-not-written': [{ event: 'limit-not-written', batchId: batch.batchId, cause: 'Error: throttled' }],
  'slot-freed': [{ event: 'slot-freed', operation, slot: 's' }],
  'put-off': [{ event: 'put-off', destination: 'ops', events: 2, uncalled: 1, waited: 60_000 }],
  'result-omitted': [{ event: 'result-omitted', destination: 'ops', bytes: 300_000, cause: 'too long' }],
  'destination-down': [{ event: 'destination-down', destination: 'ops', failures: 5, until: NOW }],
  'destination-up': [{ event: 'destination-up', destination: 'ops' }],
  'share-unknown': [{ event: 'share-unknown', cause: 'throttled' }],
  'not-put-off': [{ event: 'not-put-off', messages: 1, cause: 'throttled' }],
  'not-given-up': [{ event: 'not-given-up', messageId: 'm-1', cause: 'throttled' }],
  'given-up': [{ event: 'given-up', destination: 'ops', messageId: 'm-1' }],
  'rule-broken': [{ event: 'rule-broken', rule: 'redrive', operation, messages: 2, senders: ['AROA1'] }],
  'rules-decided': [{ event: 'rules-decided', mode: 'warn' }],
  rejected: [{ event: 'rejected', operation, messages: 1, reasons: [] }],
  led: [{ event: 'led', target: where, fence: 1, takenOver: true }],
  sealed: [{ ...batch, event: 'sealed', target: where, because: 'full', size: 7, fill: 0.7, waited: 300 }],
  called: [
    {
      ...batch,
      event: 'called',
      attempt: 1,
      items: 7,
      took: 20,
      answer: 'HTTP 503',
      isError: true,
      traceparent: '00-0-0-01',
      weight: 2_500,
    },
  ],
  'sweep-cut': [{ event: 'sweep-cut', part: 'slots', left: 40 }],
  'not-stored': [{ ...batch, event: 'not-stored', attempt: 1, retryAt: NOW, cause: 'Error: throttled' }],
  postponed: [{ ...batch, event: 'postponed', open: 1, retryAt: NOW, reason: 'HTTP 503' }],
  finished: [
    { ...finished, status: 'partly-failed' },
    { ...finished, status: 'succeeded', counts: { succeeded: 7, failed: 0 } },
  ],
  delivered: [{ event: 'delivered', destination: 'ops', events: 1 }],
  'not-delivered': [{ event: 'not-delivered', destination: 'ops', cause: 'timeout' }],
  untold: [{ event: 'untold', tasks: 1, destinations: ['ops'] }],
  merged: [{ event: 'merged', operation, target: where, requests: 3, inputs: 5, skipped: 1, called: true }],
  held: [{ ...batch, event: 'held', by: 'person' }],
  'circuit-opened': [{ event: 'circuit-opened', operation, reason: 'HTTP 503', until: NOW, failures: 5 }],
  'circuit-closed': [{ event: 'circuit-closed', operation }],
  'fan-out-ended': [
    { ...ended, status: 'complete' },
    { ...ended, status: 'complete', because: 'too-many-failed' },
    { ...ended, status: 'expired', because: 'idle' },
  ],
  'fan-outs-counted': [{ event: 'fan-outs-counted', open: 2, oldest: 60_000, isAtLeast: false }],
  'fan-out-deleted': [{ event: 'fan-out-deleted', fanOut, was: 'complete' }],
  'lists-counted': [{ event: 'lists-counted', open: 1, available: 40, leased: 30, oldest: 60_000, deliveries: 2 }],
  'jobs-undeliverable': [{ event: 'jobs-undeliverable', list: 'l' as ListId, jobs: 2, deliveries: 5 }],
  'claim-broken': [{ event: 'claim-broken', list: 'l' as ListId, claim: 'k3x9Qz1B' as ClaimKey, jobs: 3 }],
  'claim-refused': [{ event: 'claim-refused', list: 'l' as ListId, claims: 1_064 }],
  'fan-out-repaired': [{ event: 'fan-out-repaired', fanOut }],
  'fan-out-untold': [{ event: 'fan-out-untold', fanOut, destination: 'ops' }],
  'unknown-items': [{ event: 'unknown-items', items: 1, first: id('f:0:0') }],
  'unknown-batch': [{ event: 'unknown-batch', batchId: batch.batchId }],
  'hold-not-noted': [{ event: 'hold-not-noted', batchId: batch.batchId, cause: 'timeout' }],
  'nudge-failed': [{ event: 'nudge-failed', target: where, cause: 'timeout' }],
  'not-revived': [{ ...letter, event: 'not-revived', cause: 'timeout' }],
  'not-removed': [{ ...letter, event: 'not-removed', cause: 'timeout' }],
  discarded: [{ ...letter, event: 'discarded' }],
  'not-released': [{ event: 'not-released', queue: letter.queue, messages: 3, cause: 'timeout' }],
  'early-guard': [{ event: 'early-guard', target: where, fence: 9 }],
  'foreign-message': [{ event: 'foreign-message', target: where, fence: 9 }],
  'foreign-results': [{ event: 'foreign-results', batchId: batch.batchId, items: 1, ids: ['x'], expected: [id('a')] }],
  'answers-without-results': [{ event: 'answers-without-results', operation }],
  revived: [{ ...letter, event: 'revived', revivals: 1, delay: 2 }],
  unreadable: [{ ...letter, event: 'unreadable' }],
  looked: [{ event: 'looked', operation, targets: 3, oldestWaiting: 100 }],
  repaired: [
    { ...repaired, finding: 'stranded' },
    { ...repaired, finding: 'expired-lock' },
    { ...repaired, finding: 'leaderless-batch' },
    { ...repaired, finding: 'forgotten' },
    { ...repaired, finding: 'stuck-slot' },
    { ...repaired, finding: 'overdue-batch' },
  ],
};

export const EVERY_EVENT: readonly FlowEvent[] = Object.values(EVENTS).flat();
