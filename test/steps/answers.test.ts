import { expect, it } from 'vitest';
import type { Answer } from '../../src/domain/downstream/downstream.ts';
import { batchIdOf } from '../../src/domain/ids.ts';
import { handleBatch } from '../../src/steps/call/handle-batch.ts';
import { electLeader } from '../../src/steps/lead/elect-leader.ts';
import { finishBatch } from '../../src/steps/lead/finish-batch.ts';
import { register } from '../../src/steps/register/register.ts';
import { aConfig, aDownstream, aPolicy, id, NOW, operationName, target } from '../factories/factories.ts';
import { memoryStores } from '../ports/stores.ts';
import { PLENTY, stepKit } from './step-kit.ts';

const ship = operationName('ship');
const SILENT: Answer = { kind: 'all-succeeded', withoutResults: true };
const named = (name: string): Answer => ({
  kind: 'results',
  items: new Map([[id(name), { status: 'succeeded' }]]),
  foreign: 0,
});

/** An operation whose batches of one task get the answers, one after the other. */
const answering = async (requireResults: boolean | null = null) => {
  const batch = aPolicy({ maxSize: 1, maxWait: 5_000 });
  const kit = stepKit(await memoryStores(), aConfig({ batch, downstream: aDownstream({ requireResults }) }));
  let notes = 0;
  const { noteAnswers } = kit.operations;
  const operations = {
    ...kit.operations,
    noteAnswers: (...given: Parameters<typeof noteAnswers>) => {
      notes += 1;
      return noteAnswers(...given);
    },
  };
  let tasks = 0;
  const handled = async (...answers: readonly ((name: string) => Answer)[]): Promise<void> => {
    for (const answer of answers) {
      tasks += 1;
      const [name, depot] = [`t-${tasks}`, `D${tasks}`];
      const where = target(`ship/depot=${depot}`);
      await register(kit, [
        { messageId: name, sentAt: NOW, body: JSON.stringify({ operation: 'ship', id: name, payload: { depot } }) },
      ]);
      await electLeader(kit, { kind: 'elect', target: where });
      await finishBatch(kit, where, batchIdOf(where, 1, 1));
      kit.answers = [answer(name)];
      await handleBatch({ ...kit, operations }, { kind: 'due', batchId: batchIdOf(where, 1, 1) }, PLENTY);
    }
  };
  return {
    kit,
    handled,
    notes: () => notes,
    noticed: () => kit.events.filter(({ event }) => event === 'answers-without-results'),
    form: async () => (await kit.operations.read(ship)).answers,
  };
};
const silent = () => SILENT;

it('answers without results are reported once for an operation, with one write', async () => {
  const { handled, noticed, notes, form } = await answering();
  await handled(silent, silent, silent);
  expect(noticed()).toEqual([{ event: 'answers-without-results', operation: 'ship' }]);
  expect([notes(), await form()]).toEqual([1, 'without-results']);
});

it('a downstream that has sent results may leave them out', async () => {
  const { handled, noticed, notes, form } = await answering();
  await handled(named, silent, named, silent);
  expect([noticed(), notes(), await form()]).toEqual([[], 1, 'with-results']);
});

it('results after answers without them end the notice', async () => {
  const { handled, noticed, notes, form } = await answering();
  await handled(silent, named, silent);
  expect([noticed().length, notes(), await form()]).toEqual([1, 2, 'with-results']);
});

it('an operation whose results are required or not required is not reported', async () => {
  for (const requireResults of [true, false]) {
    const { handled, noticed, notes } = await answering(requireResults);
    await handled(silent, named);
    expect([noticed(), notes()]).toEqual([[], 0]);
  }
});

it('answers that show nothing about results are not noted', async () => {
  const { handled, noticed, notes } = await answering();
  await handled(
    () => ({ kind: 'all-succeeded' }),
    () => ({ kind: 'pending' }),
    () => ({ kind: 'refused', reason: 'answered 400' }),
    () => ({ kind: 'unavailable', reason: 'answered 503', mayRetryAtOnce: false }),
  );
  expect([noticed(), notes()]).toEqual([[], 0]);
  await handled(() => ({ kind: 'all-succeeded', inputs: '[]' }), silent);
  expect([noticed(), notes()]).toEqual([[], 1]);
});

it('unknown ids are reported with ids of the call', async () => {
  const { kit, handled } = await answering();
  await handled(() => ({ kind: 'results', items: new Map(), foreign: 5, foreignIds: ['x'] }));
  expect(kit.events.find(({ event }) => event === 'foreign-results')).toEqual({
    event: 'foreign-results',
    batchId: 'ship/depot=D1#1#1',
    items: 5,
    ids: ['x'],
    expected: ['t-1'],
  });
});
