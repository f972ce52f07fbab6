/** The operation of this example in virtual time: `node --test examples/flights/flights.test.ts`. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTestbed } from '../../src/testing/index.ts'; // in an app of your own: 'groupage/testing'
import { type Flight, report } from './downstream.ts';
import config from './groupage.config.ts';

const flight = (origin: string, destination: string, delay: number): Flight => ({
  date: '2001/01/10 18:20',
  delay,
  distance: 405,
  origin,
  destination,
});

const testbed = () =>
  createTestbed<{ 'report-flights': Flight }>(config, {
    downstreams: { 'report-flights': ({ items }) => ({ results: items.map(report) }) },
  });

test('flights of one origin go in one call, at most two seconds after the first', async () => {
  const bed = testbed();
  for (const destination of ['JFK', 'SFO', 'BOS'])
    await bed.send({ operation: 'report-flights', payload: flight('MUC', destination, 0) });
  await bed.send({ operation: 'report-flights', payload: flight('HAM', 'JFK', 0) });
  await bed.advance('2s');
  assert.deepEqual(bed.batches.map(({ target, size }) => `${target} ${size}`).sort(), [
    'report-flights/origin=HAM 1',
    'report-flights/origin=MUC 3',
  ]);
});

test('a flight with equal origin and destination fails alone, with a reason', async () => {
  const bed = testbed();
  const odd = await bed.send({ operation: 'report-flights', payload: flight('MUC', 'MUC', 0) });
  const late = await bed.send({ operation: 'report-flights', payload: flight('MUC', 'JFK', 20) });
  await bed.settle();
  assert.equal(bed.task(odd)?.error?.code, 'round-trip');
  assert.deepEqual(bed.task(late)?.result, { late: true, minutes: 20 });
});

test('a service that answers 429 is called again after its Retry-After', async () => {
  const bed = testbed();
  bed.inject({ downstream: 'report-flights', answers: { status: 429, headers: { 'retry-after': '1' } }, times: 2 });
  const id = await bed.send({ operation: 'report-flights', payload: flight('MUC', 'JFK', 0) });
  await bed.settle();
  assert.deepEqual(
    bed.calls.map(({ answer }) => answer),
    ['answered 429', 'answered 429', 'results'],
  );
  assert.equal(bed.task(id)?.status, 'succeeded');
});
