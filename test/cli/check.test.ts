import { expect, it } from 'vitest';
import { parseConfig } from '../../src/domain/config/schema/config.ts';
import { hintsOf, notesOf } from '../../tools/cli/commands/check.ts';

const http = { kind: 'http', url: 'https://parcels.example/batch?key=s3cret' };
const notes = (operations: Record<string, object>, others: object = {}): string[] => {
  const all = Object.entries(operations).map(([name, fields]) => [name, { target: [], downstream: http, ...fields }]);
  const parsed = parseConfig({ operations: Object.fromEntries(all), ...others });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  return notesOf(parsed.value);
};

it('groupage check has no notes on a default configuration', () => {
  expect(notes({ ship: { batch: { maxSize: 7, maxWait: '3s' }, shards: 4 } })).toEqual([]);
  expect(notes({ ship: { circuit: { failures: 5, coolDown: '30s' }, retry: { bisect: true } } })).toEqual([]);
});

it('groupage check notes each setting that differs from its default, and no secret', () => {
  const more = {
    batch: { window: '5m', maxWeight: 1_000 },
    bypass: { bytes: 100_000 },
    merge: { keys: 'inputs[].id' },
    concurrency: { total: 25 },
    rateLimit: 0.5,
    circuit: null,
    retry: { bisect: false },
    downstream: { ...http, secret: { ssm: '/s3cret' }, headers: { 'x-team': 's3cret' } },
    callbacks: { failed: 'ops', succeeded: 'hook' },
  };
  const quiet = {
    batch: { quietPeriod: '500ms', minSize: 5 },
    concurrency: { perTarget: 1 },
    circuit: { coolDown: '1m' },
  };
  const destinations = { ops: { kind: 'queue', name: 'ops' }, hook: { ...http, secret: { ssm: '/s3cret' } } };
  expect(notes({ more, plain: {}, quiet }, { destinations })).toEqual([
    'more: batch windows of 5m, a task of 100,000 bytes or more gets a batch of its own, weight of a batch at most 1,000, merges requests by inputs[].id, concurrent batches in total: at most 25, at most 0.5 calls per second, no circuit, a failing batch is not halved, calls are signed, events about failed tasks → ops, events about succeeded tasks → hook',
    'quiet: a batch is sealed when at least 5 tasks wait and no task arrives for 500ms, concurrent batches per Target: at most 1, the circuit opens after 5 failures in a row, for 1m',
    'destination ops: queue ops',
    'destination hook: https://parcels.example/batch',
  ]);
});

it('groupage check notes each limit, and the operations that share it', () => {
  const limits = {
    api: { calls: 1_000, weight: 90_000, per: '1m', burst: 5, key: ['account', 'a.b'], concurrency: { calls: 1 } },
    heavy: { key: 'target', concurrency: { weight: 50_000.5 } },
    spare: { calls: 1 },
  };
  const sized = { target: ['account', 'a.b'], batch: { maxWeight: 10 } };
  const operations = {
    mail: { ...sized, limits: ['heavy', 'api'], downstream: { ...http, usageHeader: 'x-usage' } },
    post: { ...sized, limits: ['api'] },
  };
  expect(notes(operations, { limits })).toEqual([
    'mail: weight of a batch at most 10, limited by api and heavy, the header x-usage reports the weight that a call used',
    'post: weight of a batch at most 10, limited by api',
    'limit api: at most 1,000 calls and weight 90,000 in 1m, 5 may start at once, at most 1 call in progress, for each account, a.b (named by mail, post)',
    'limit heavy: at most weight 50,000.5 in progress, for each Target (named by mail)',
    'limit spare: at most 1 call in 1s (named by no operation)',
  ]);
});

it('groupage check notes producers without ids that rules name', () => {
  const parsed = parseConfig({
    operations: {
      ship: { target: [], downstream: http, producers: { send: ['shop', 'crm'], redrive: ['shop'] } },
      plain: { target: [], downstream: http },
    },
    // A name may be a word of the rules.
    producers: { shop: [], crm: ['AROA1234567890EXAMPLE'], any: [] },
  });
  expect(parsed.ok && notesOf(parsed.value)).toEqual([
    "producer shop: has no ids. Rules that name it (send of ship, redrive of ship) need grantRegister(role, { as: 'shop' })",
  ]);
});

const plain = { kind: 'http', url: 'https://parcels.example/batch' };
const hints = (maxSize: number, downstream: object = plain): string[] => {
  const parsed = parseConfig({ operations: { ship: { target: [], downstream, batch: { maxSize } } } });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  return hintsOf(parsed.value);
};

it('groupage check warns of results that may exceed one answer, and says what to do', () => {
  expect(hints(1_000)).toEqual([
    expect.stringMatching(/^ship: .*1,000 results of a full batch may have about 6,000 bytes\. .*lower batch\.maxSize/),
  ]);
  expect(hints(601, { kind: 'lambda', function: 'parcels' })).toHaveLength(1);
});

it('groupage check does not warn if results fit, or if no answer carries them', () => {
  for (const size of [1, 100, 600]) expect(hints(size)).toEqual([]);
  expect(hints(1_000, { kind: 'queue', name: 'parcels' })).toEqual([]);
  expect(hints(1_000, { kind: 'step-functions', stateMachine: 'parcels' })).toEqual([]);
});
