import { expect, it } from 'vitest';
import type { ReceivedCall } from '../factories/downstream.ts';
import { faultsIn, type Ledger } from './ledger.ts';

const payload = { depot: 'MUC', n: 1 };
const call = (batchId: string, ...ids: readonly string[]): ReceivedCall => ({
  at: 0,
  idempotencyKey: batchId,
  batchId,
  operation: 'ship',
  target: 'ship/depot=MUC',
  attempt: 1,
  items: ids.map((id) => ({ id, payload })),
  text: '',
});
/** One task that was sent, called, answered and shown correctly. */
const aLedger = (fields: Partial<Ledger> = {}): Ledger => ({
  acknowledged: new Map([['a', { payload, target: 'ship/depot=MUC', via: 'SendMessage', at: 0 }]]),
  calls: [call('b1', 'a'), call('b1', 'a')],
  given: new Map([
    [
      'a',
      [
        { status: 'succeeded', result: 1 },
        { status: 'succeeded', result: 2 },
      ],
    ],
  ]),
  shown: new Map([['a', { status: 'succeeded', result: 2, batchId: 'b1' }]]),
  ...fields,
});
const NONE = { lost: [], doubled: [], misplaced: [], different: [], altered: [] };
const shownAs = (fields: object): Partial<Ledger> => ({
  shown: new Map([['a', { status: 'succeeded', result: 2, batchId: 'b1', ...fields }]]),
});

it('the ledger accepts a task that was called twice and shows one of the results', () => {
  expect(faultsIn(aLedger())).toEqual(NONE);
});

it.each<[string, Partial<Ledger>, Partial<typeof NONE> | object]>([
  ['an acknowledged task that is unknown', { shown: new Map() }, { lost: ['a'] }],
  ['a task that did not end', shownAs({ status: 'in-progress' }), { lost: ['a'] }],
  [
    'a stored task, not acknowledged, that did not end',
    { shown: new Map([...aLedger().shown, ['b', { status: 'created' }]]) },
    { lost: ['b'] },
  ],
  ['a task in two batches', { calls: [call('b1', 'a'), call('b2', 'a')] }, { doubled: ['a'] }],
  ['a task that shows another batch', shownAs({ batchId: 'b3' }), { misplaced: ['a'] }],
  ['a result that was not given', shownAs({ result: 3 }), { different: ['a'] }],
  ['a success without an answer', { given: new Map() }, { different: ['a'] }],
  ['a failure without an answer', shownAs({ status: 'failed', result: undefined, error: {} }), { different: ['a'] }],
  [
    'a changed payload',
    { calls: [{ ...call('b1', 'a'), items: [{ id: 'a', payload: { depot: 'MUC', n: 2 } }] }] },
    { altered: ['a'] },
  ],
  ['a task under another Target', { calls: [{ ...call('b1', 'a'), target: 'ship/depot=FRA' }] }, { altered: ['a'] }],
])('the ledger finds %s', (_, fields, faults) => {
  expect(faultsIn(aLedger(fields))).toEqual({ ...NONE, ...faults });
});
