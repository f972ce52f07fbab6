/** Tasks that wait for a pause or a cap, and the effect of resuming, cancelling, priorities and keys meanwhile. */
import { setTimeout } from 'node:timers/promises';
import { SendMessageCommand } from '@aws-sdk/client-sqs';
import { GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { printBatch, printGroup } from '../../src/domain/batches/messages.ts';
import { setting } from '../../src/domain/deployed/environment.ts';
import type { BatchId, Token } from '../../src/domain/ids.ts';
import type { ReceivedCall } from '../factories/downstream.ts';
import { target } from '../factories/factories.ts';
import { eventually, type Flow, startFlow } from './flow.ts';
import type { OperationOfSuite } from './operations.ts';

let flow: Flow;
beforeAll(async () => {
  flow = await startFlow('four');
});
afterAll(() => flow?.stop());
afterEach(() => flow.downstream.behave(() => ({ status: 200 })));

/** Long enough, on an idle machine, for the call of a batch that is due. */
const A_WHILE = 1_500;

const of = (operation: OperationOfSuite): Flow => flow.of(operation);
const ask = async (method: string, path: string, body?: object) => {
  const init = { method, ...(body ? { body: JSON.stringify(body) } : {}) };
  const response = await flow.backend.api(path, init);
  return { code: response.status, answer: (await response.json()) as Record<string, unknown> };
};
const change = (operation: OperationOfSuite, how: 'pause' | 'resume', depot?: string) =>
  ask('POST', `/operations/${operation}/${how}`, depot === undefined ? {} : { target: of(operation).target(depot) });
const stateOf = (operation: OperationOfSuite) => flow.get(`/operations/${operation}`);
const table = (): string => setting(flow.backend.settings, 'batchLockTable');
/** Waits until `count` waiting rows of a depot exist. */
const waiting = (operation: OperationOfSuite, depot: string, count: number) =>
  eventually(async () => {
    const { tasks = [] } = (await flow.get(
      `/tasks?${new URLSearchParams({ target: of(operation).target(depot), limit: '100' })}`,
    )) as { tasks?: object[] };
    return tasks.length === count;
  });
const sizes = (calls: readonly ReceivedCall[]): number[] => calls.map(({ items }) => items.length);
const ids = (calls: readonly ReceivedCall[]): string[][] =>
  calls.map(({ items }) => items.map(({ id }) => id).toSorted());
/** Payloads of a depot. */
const some = (depot: string, count: number): object[] => Array.from({ length: count }, (_, n) => ({ depot, n }));

describe('a pause', () => {
  it('of an operation holds all calls; after resume all tasks are done in full batches', async () => {
    expect(await change('four', 'pause')).toMatchObject({ code: 200, answer: { paused: { by: 'person' } } });
    const sent = await flow.send([...some('paused-a', 8), ...some('paused-b', 4)]);
    await waiting('four', 'paused-a', 8);
    await waiting('four', 'paused-b', 4);
    await eventually(async () => (await stateOf('four')).waitingTargets === 2);
    await setTimeout(A_WHILE);
    expect(flow.calls()).toEqual([]);
    expect(await flow.task(sent[0] ?? '')).toMatchObject({ waitsFor: { reason: 'operation-paused' } });
    expect(await change('four', 'resume')).toMatchObject({ code: 202, answer: { resuming: true } });
    await flow.settled(sent);
    expect(sizes(flow.calls())).toEqual([4, 4, 4]);
    expect(await change('four', 'resume')).toMatchObject({ code: 200, answer: { resuming: false } });
    expect(await stateOf('four')).toMatchObject({ waitingTargets: 0, targets: [] });
  });

  it('of a Target holds that Target only', async () => {
    const pair = of('pair');
    const first = await pair.send(some('target', 1));
    await waiting('pair', 'target', 1);
    await change('pair', 'pause', 'target');
    const rest = await pair.send(some('target', 3));
    await waiting('pair', 'target', 4);
    await pair.settled(await pair.send(some('beside', 2)));
    await setTimeout(A_WHILE);
    expect(pair.calls('target')).toEqual([]);
    expect(await pair.task(first[0] ?? '')).toMatchObject({ waitsFor: { reason: 'target-paused' } });
    await change('pair', 'resume', 'target');
    await pair.settled([...first, ...rest]);
    expect(sizes(pair.calls('target'))).toEqual([2, 2]);
  });

  it('is in the audit trail with its Target, its reason and its outcome', async () => {
    const where = of('pair').target('target');
    const why = `audited ${flow.target('target')}`;
    await ask('POST', '/operations/pair/pause', { target: where, reason: why });
    await change('pair', 'resume', 'target');
    const { entries } = (await flow.get('/audit?limit=100')) as { entries: readonly Record<string, unknown>[] };
    expect(entries.find(({ reason }) => reason === why)).toMatchObject({ action: 'pause', outcome: 'done' });
  });

  it('removed without a wake is noticed by the sweep, which wakes the waiting Targets', async () => {
    const sent = await lifted('woken');
    await flow.backend.invoke('SweepHandler', {});
    await flow.settled(sent);
  });

  it('removed without a wake is noticed by a guard, which dequeues the Target', async () => {
    const sent = await lifted('led');
    const where = target(flow.target('led'));
    const { Item } = await flow.backend.clients.dynamodb.send(
      new GetCommand({ TableName: table(), Key: { Target: where, Entry: 'lock' }, ConsistentRead: true }),
    );
    const message = { target: where, fence: Item?.Fence as number, token: 'any' as Token };
    await flow.backend.clients.sqs.send(
      new SendMessageCommand({ QueueUrl: flow.queue('groupQueue'), MessageBody: printGroup(message) }),
    );
    await flow.settled(sent);
    await eventually(async () => (await stateOf('four')).waitingTargets === 0);
  });

  /**
   * Tasks of a Target that waits for a slot although its operation has one: the pause was removed from the table
   * without a wake.
   */
  const lifted = async (depot: string): Promise<string[]> => {
    await change('four', 'pause');
    const sent = await flow.send(some(depot, 4));
    await eventually(async () => (await stateOf('four')).waitingTargets === 1);
    await flow.backend.clients.dynamodb.send(
      new UpdateCommand({
        TableName: table(),
        Key: { Target: 'op:four', Entry: 'lock' },
        UpdateExpression: 'REMOVE Paused',
      }),
    );
    return sent;
  };
});

describe('a cancelled task', () => {
  const cancel = (id: string) => ask('DELETE', `/tasks/${id}`);

  it('stays failed if sent again, and runs again if redriven', async () => {
    const patient = of('patient');
    const message = { operation: 'patient', id: 'cancelled', payload: { depot: 'cancel' } };
    await patient.send([message]);
    await waiting('patient', 'cancel', 1);
    for (let times = 0; times < 2; times += 1)
      expect(await cancel('cancelled')).toMatchObject({
        code: 200,
        answer: { status: 'failed', error: { code: 'cancelled' }, payload: { depot: 'cancel' } },
      });
    await patient.send([message, { ...message, id: 'after' }]);
    await waiting('patient', 'cancel', 1);
    expect(await patient.task('cancelled')).toMatchObject({ status: 'failed', run: 1, error: { code: 'cancelled' } });
    const redrive = await ask('POST', '/tasks/redrive', { ids: ['cancelled'] });
    expect(redrive).toMatchObject({ code: 202, answer: { redriven: 1, skipped: [] } });
    await waiting('patient', 'cancel', 2);
    await ask('POST', '/targets/flush', { target: patient.target('cancel') });
    expect(await patient.ended(['cancelled', 'after'])).toMatchObject([
      { status: 'succeeded', run: 2 },
      { status: 'succeeded', run: 1 },
    ]);
    expect(await cancel('cancelled')).toMatchObject({
      code: 409,
      answer: { detail: 'task cancelled can no longer be cancelled: it has succeeded' },
    });
    expect(ids(patient.calls('cancel'))).toEqual([['after', 'cancelled']]);
  });

  it('that is in a batch is not cancelled', async () => {
    const patient = of('patient');
    let answer = (): void => {};
    flow.downstream.behave(async () => {
      await new Promise<void>((resolve) => {
        answer = resolve;
      });
      return { status: 200 };
    });
    const [id = ''] = await patient.send(some('slow', 1));
    await waiting('patient', 'slow', 1);
    await ask('POST', '/targets/flush', { target: patient.target('slow') });
    const [call] = await eventually(() => (patient.calls('slow').length > 0 ? patient.calls('slow') : undefined));
    expect(await cancel(id)).toMatchObject({
      code: 409,
      answer: { detail: `task ${id} can no longer be cancelled: it is in batch ${call?.batchId}` },
    });
    answer();
    expect(await patient.ended([id])).toMatchObject([{ status: 'succeeded' }]);
  });
});

describe('among waiting tasks', () => {
  it('urgent ones go first', async () => {
    const pair = of('pair');
    await change('pair', 'pause');
    const usual = await pair.send(some('urgent', 2));
    await waiting('pair', 'urgent', 2);
    const urgent = await pair.send(some('urgent', 2).map((payload) => ({ operation: 'pair', payload, priority: 9 })));
    await waiting('pair', 'urgent', 4);
    await change('pair', 'resume');
    await pair.settled([...usual, ...urgent]);
    const inTurn = pair.calls('urgent').toSorted((a, b) => a.batchId.localeCompare(b.batchId));
    expect(ids(inTurn)).toEqual([urgent.toSorted(), usual.toSorted()]);
  });

  it('a newer one supersedes one with its coalesce key', async () => {
    const patient = of('patient');
    const [older, newer] = ['older', 'newer'].map((id, n) => ({
      operation: 'patient',
      id,
      payload: { depot: 'coalesced', n },
      coalesceKey: 'position',
    }));
    for (const [before, message] of [older, newer].entries()) {
      await patient.send([message ?? {}]);
      await waiting('patient', 'coalesced', before + 1);
    }
    await ask('POST', '/targets/flush', { target: patient.target('coalesced') });
    expect(await patient.ended(['older', 'newer'])).toMatchObject([
      { status: 'succeeded', supersededBy: 'newer' },
      { status: 'succeeded', batchId: expect.any(String) },
    ]);
    expect(ids(patient.calls('coalesced'))).toEqual([['newer']]);
  });

  it('one that expires fails, and the downstream is not called for it', async () => {
    const patient = of('patient');
    const sent = await patient.send([{ operation: 'patient', payload: { depot: 'late' }, expiresIn: '1s' }]);
    expect(await patient.ended(sent)).toMatchObject([{ status: 'failed', error: { code: 'expired' } }]);
    expect(patient.calls('late')).toEqual([]);
  });
});

describe('a batch', () => {
  it('that waits for the quiet period keeps every payload', async () => {
    const quiet = of('quiet');
    const sent: string[] = [];
    for (const payload of some('quiet', 6)) {
      sent.push(...(await quiet.send([payload])));
      await setTimeout(100);
    }
    const ended = await quiet.ended(sent);
    const payloads = quiet.calls('quiet').flatMap(({ items }) => items.map(({ payload }) => payload));
    expect(payloads.toSorted((a, b) => Number(a.n) - Number(b.n))).toEqual(some('quiet', 6));
    expect(quiet.calls('quiet').length).toBeLessThan(6);
    expect(await quiet.batch(ended[0]?.batchId)).toMatchObject({ sealedBy: 'quiet' });
  });

  it('does not exceed maxWeight', async () => {
    const heavy = of('heavy');
    await change('heavy', 'pause');
    const payloads = some('heavy', 5);
    const sent = await heavy.send(payloads.map((payload) => ({ operation: 'heavy', payload, weight: 4 })));
    await waiting('heavy', 'heavy', 5);
    await change('heavy', 'resume');
    const [first] = await heavy.ended(sent);
    expect(sizes(heavy.calls('heavy')).toSorted()).toEqual([1, 2, 2]);
    expect(await heavy.batch(first?.batchId)).toMatchObject({ sealedBy: expect.stringMatching(/^(weight|waited)$/) });
  });
});

describe('the cap', () => {
  /**
   * A slow downstream. @param atLeast calls wait for each other until so many are in flight. @returns the most calls
   * in flight, of all Targets and of one
   */
  const slowly = (atLeast = 1): { all: number; ofTarget: number } => {
    const under = new Map<string, number>();
    const most = { all: 0, ofTarget: 0 };
    flow.downstream.behave(async ({ target: where }) => {
      const count = (by: number): void => void under.set(where, (under.get(where) ?? 0) + by);
      count(1);
      most.ofTarget = Math.max(most.ofTarget, ...under.values());
      most.all = Math.max(
        most.all,
        [...under.values()].reduce((sum, each) => sum + each, 0),
      );
      await setTimeout(300);
      await eventually(() => most.all >= atLeast);
      count(-1);
      return { status: 200 };
    });
    return most;
  };

  it('of a Target allows one call of it at a time, and all tasks are done', async () => {
    const single = of('single');
    const most = slowly(2);
    const sent = [];
    for (let wave = 0; wave < 5; wave += 1) {
      sent.push(...(await single.send([...some('one', 3), ...some('other', 3)])));
      await setTimeout(150);
    }
    await single.settled(sent);
    expect(most).toEqual({ all: 2, ofTarget: 1 });
    expect(sizes(single.calls('one')).reduce((sum, size) => sum + size, 0)).toBe(15);
  });

  it('of an operation holds over all its Targets, and all tasks are done', async () => {
    const capped = of('capped');
    const most = slowly(2);
    const depots = Array.from({ length: 10 }, (_, n) => `capped-${n}`);
    const sent = await capped.send(depots.flatMap((depot) => some(depot, 3)));
    await eventually(async () => Number((await stateOf('capped')).waitingTargets) > 0);
    expect(await stateOf('capped')).toMatchObject({ slots: { total: 2 } });
    await capped.settled(sent);
    expect(most.all).toBe(2);
    expect(sizes(capped.calls()).reduce((sum, size) => sum + size, 0)).toBe(30);
    await eventually(async () => {
      const { slots, waitingTargets } = await stateOf('capped');
      return (slots as { taken: number }).taken === 0 && waitingTargets === 0;
    });
  });

  /** Adds or removes slots of batches that are not stored. */
  const slots = (how: 'ADD' | 'DELETE', ...depots: readonly string[]) =>
    flow.backend.clients.dynamodb.send(
      new UpdateCommand({
        TableName: table(),
        Key: { Target: 'op:capped', Entry: 'lock' },
        UpdateExpression: `${how} InFlight :slots`,
        ExpressionAttributeValues: { ':slots': new Set(depots.map((depot) => `${of('capped').target(depot)}#1#1`)) },
      }),
    );

  it('loses no slot to a crash, as the sweep releases it', async () => {
    await slots('ADD', 'crashed');
    expect(await stateOf('capped')).toMatchObject({
      slots: { taken: 1 },
      batches: [`${of('capped').target('crashed')}#1#1`],
    });
    await flow.backend.invoke('SweepHandler', {});
    expect(await stateOf('capped')).toMatchObject({ slots: { taken: 0 } });
  });

  it('holds although a batch releases its slot while its Target is paused', async () => {
    const capped = of('capped');
    let status = 503;
    // The pause begins before the next attempt, however slow the machine is: after the last attempt the tasks would fail.
    flow.downstream.behave(() => ({ status, headers: { 'retry-after': '10' } }));
    const sent = await capped.send(some('lender', 2));
    await eventually(() => capped.calls('lender').length > 0);
    await change('capped', 'pause', 'lender');
    await eventually(async () => ((await stateOf('capped')).slots as { taken: number }).taken === 0);
    await slots('ADD', 'borrower-1', 'borrower-2');
    status = 200;
    await change('capped', 'resume', 'lender');
    const { batchId } = (await capped.task(sent[0] ?? '')) as { batchId: BatchId };
    await eventually(async () => {
      // Without this message the batch checks within a minute.
      const MessageBody = printBatch({ kind: 'due', batchId });
      await flow.backend.clients.sqs.send(new SendMessageCommand({ QueueUrl: flow.queue('batchQueue'), MessageBody }));
      return (await stateOf('capped')).waitingTargets === 1;
    });
    await change('capped', 'pause');
    await slots('DELETE', 'borrower-1', 'borrower-2');
    await change('capped', 'resume');
    await capped.settled(sent);
    expect(await capped.task(sent[0] ?? '')).toMatchObject({ status: 'succeeded', batchId });
  });
});
