import { describe, expect, it } from 'vitest';
import { api } from '../../src/api/app.ts';
import { circuitOf } from '../../src/api/operations/views.ts';
import type { Operation } from '../../src/domain/config/resolved.ts';
import { NEW_OPERATION, type Pause, slotOf } from '../../src/domain/operations/slots.ts';
import { electLeader } from '../../src/steps/lead/elect-leader.ts';
import { register } from '../../src/steps/register/register.ts';
import { aConfig, aDownstream, aPolicy, NOW, operationName, target, token } from '../factories/factories.ts';
import { memoryStores } from '../ports/stores.ts';
import { stepKit } from '../steps/step-kit.ts';

const SHIP = operationName('ship');
const MUC = target('ship/depot=MUC');
const ISO_NOW = new Date(NOW).toISOString();
const openCircuit: Pause = { id: 'c', by: 'circuit', since: NOW, until: NOW + 30_000, reason: 'answered 503' };

/** An API of two operations, with one waiting task in {@link MUC}. */
const started = async (ship: Partial<Operation> = {}) => {
  const kit = stepKit(await memoryStores(), aConfig(ship, { operation: operationName('parcels') }));
  await register(kit, [{ messageId: 'task-1', body: '{"operation":"ship","payload":{"depot":"MUC"}}' }]);
  kit.sent.elect.length = 0;
  const app = api({ ...kit, newId: () => 'new', onError: (cause) => console.error(cause) });
  const ask = async (path: string, body?: unknown, method = body === undefined ? 'GET' : 'POST') => {
    const init = { method, ...(body === undefined || body === '' ? {} : { body: JSON.stringify(body) }) };
    const response = await app.request(`/v1${path}`, init);
    const answer = (await response.json()) as Record<string, unknown>;
    return { ...answer, status: response.status } as typeof answer;
  };
  /** Has the elect function handle its messages. */
  const resumed = async () => {
    for (const message of [...kit.sent.resume.splice(0), ...kit.sent.elect.splice(0)]) await electLeader(kit, message);
  };
  return { kit, ask, resumed };
};

describe('an operation', () => {
  it('has a configuration, and 404 for an unknown name', async () => {
    const { ask } = await started({ batch: aPolicy({ maxWait: 5_000 }) });
    const { operation, settings } = (await ask('/operations/ship/configuration')) as Record<string, unknown>;
    expect(operation).toBe('ship');
    expect(settings).toContainEqual({
      path: 'batch.maxWait',
      value: '5s',
      source: 'built-in',
      meaning: 'How long the oldest task waits for others',
    });
    expect(await ask('/operations/shop/configuration')).toMatchObject({
      status: 404,
      detail: 'there is no operation "shop": configured are ship, parcels',
    });
  });

  it('is late after its window, if it has one, and not after maxWait', async () => {
    const { ask } = await started({ batch: aPolicy({ maxWait: 5_000, window: 3_600_000 }) });
    expect(await ask('/operations/ship')).toMatchObject({ lateAfterSeconds: 3_900 });
  });

  it('shows that its answers have no results, until the operator decides', async () => {
    for (const requireResults of [null, true, false]) {
      const { kit, ask } = await started({ downstream: aDownstream({ requireResults }) });
      expect(await ask('/operations/ship')).not.toHaveProperty('answersWithoutResults');
      await kit.operations.noteAnswers(SHIP, 'without-results');
      const shown = await ask('/operations/ship');
      expect(shown.answersWithoutResults).toBe(requireResults === null ? true : undefined);
      await kit.operations.noteAnswers(SHIP, 'with-results');
      expect(await ask('/operations/ship')).not.toHaveProperty('answersWithoutResults');
    }
  });

  it('is shown with its circuit, slots and waiting Targets', async () => {
    const { kit, ask } = await started({
      concurrency: { perTarget: null, total: 2 },
      circuit: { failures: 3, coolDown: 1_000 },
    });
    // Late after five minutes and a `maxWait` of 1 s.
    await kit.operations.takeSlot(SHIP, slotOf(MUC, 4, 7), 2);
    await kit.operations.enqueue(SHIP, { target: target('ship/depot=JFK'), at: NOW - 5_000, fence: 1 });
    await kit.operations.addFailure(SHIP, 1, 'answered 503');
    const shown = {
      operation: 'ship',
      circuit: 'closed',
      failures: 1,
      lastFailure: 'answered 503',
      lateAfterSeconds: 301,
      slots: { taken: 1, total: 2 },
      waitingTargets: 1,
    };
    const parcels = { operation: 'parcels', circuit: null, failures: 0, lateAfterSeconds: 301, waitingTargets: 0 };
    expect(await ask('/operations')).toEqual({ status: 200, operations: [shown, parcels] });
    expect(await ask('/operations/ship')).toEqual({
      status: 200,
      ...shown,
      groupedBy: ['depot'],
      batches: ['ship/depot=MUC#4#7'],
      targets: [{ target: 'ship/depot=JFK', since: new Date(NOW - 5_000).toISOString() }],
    });
    expect(await ask('/operations/shop')).toMatchObject({
      status: 404,
      detail: 'there is no operation "shop": configured are ship, parcels',
    });
  });

  it('with more than 100 waiting Targets counts them as at least 100', async () => {
    const { kit, ask } = await started();
    for (let n = 0; n < 101; n += 1) await kit.operations.enqueue(SHIP, { target: MUC, at: NOW + n, fence: 1 });
    expect(await ask('/operations/ship')).toMatchObject({ waitingTargets: 100, waitingTargetsIsAtLeast: true });
  });

  it('is paused once, and keeps its reason until a new one is given', async () => {
    const { kit, ask } = await started();
    const paused = { by: 'person', since: ISO_NOW, reason: 'the port is closed' };
    expect(await ask('/operations/ship/pause', { reason: 'the port is closed' })).toMatchObject({
      status: 200,
      operation: 'ship',
      paused,
      alreadyPaused: false,
    });
    kit.now += 60_000;
    expect(await ask('/operations/ship/pause', '')).toMatchObject({ status: 200, paused, alreadyPaused: true });
    expect(await ask('/operations/ship/pause', { reason: 'a strike' })).toMatchObject({
      paused: { since: ISO_NOW, reason: 'a strike' },
    });
    expect(await ask('/operations/ship')).toMatchObject({ paused: { reason: 'a strike' } });
  });

  it('is resumed by a message, which is sent only if it is paused', async () => {
    const { ask, resumed, kit } = await started();
    expect(await ask('/operations/ship/resume', '')).toMatchObject({ status: 200, resuming: false });
    expect(kit.sent.resume).toEqual([]);
    await ask('/operations/ship/pause', {});
    expect(await ask('/operations/ship/resume', {})).toMatchObject({
      status: 202,
      resuming: true,
      paused: { by: 'person' },
    });
    await resumed();
    expect(await ask('/operations/ship')).not.toHaveProperty('paused');
  });

  it('that is paused again stays paused although a resume is in flight', async () => {
    const { ask, resumed } = await started();
    for (const body of [{}, { target: MUC }]) {
      await ask('/operations/ship/pause', body);
      await ask('/operations/ship/resume', body);
      expect(await ask('/operations/ship/pause', body)).toMatchObject({ alreadyPaused: true });
      await resumed();
    }
    expect(await ask('/operations/ship')).toHaveProperty('paused');
    expect(await ask('/targets?operation=ship')).toMatchObject({ targets: [{ paused: { by: 'person' } }] });
  });

  it("with an open circuit shows reason and end; a person's pause replaces it", async () => {
    const { kit, ask } = await started({ circuit: { failures: 3, coolDown: 30_000 } });
    await kit.operations.pause(SHIP, openCircuit);
    expect(await ask('/operations/ship')).toMatchObject({
      circuit: 'open',
      paused: { by: 'circuit', until: new Date(NOW + 30_000).toISOString(), reason: 'answered 503' },
    });
    const answer = await ask('/operations/ship/pause', {});
    expect(answer).toMatchObject({ circuit: 'closed', alreadyPaused: false });
    expect(answer.paused).toEqual({ by: 'person', since: ISO_NOW });
  });
});

it('a circuit is half-open after its pause until a call succeeds', () => {
  const policy = { circuit: { failures: 3, coolDown: 1_000 } };
  const after = (failures: number) => ({ ...NEW_OPERATION, failures });
  expect(circuitOf(policy, after(2))).toBe('closed');
  expect(circuitOf(policy, after(3))).toBe('half-open');
  expect(circuitOf(policy, { ...after(3), paused: openCircuit })).toBe('open');
  expect(circuitOf({ circuit: null }, after(9))).toBeNull();
});

describe('a Target', () => {
  it('is paused and resumed alone', async () => {
    const { ask, resumed, kit } = await started();
    expect(await ask('/operations/ship/pause', { target: MUC, reason: 'fog' })).toEqual({
      status: 200,
      operation: 'ship',
      target: MUC,
      paused: { by: 'person', since: ISO_NOW, reason: 'fog' },
      alreadyPaused: false,
    });
    expect(await ask('/operations/ship')).not.toHaveProperty('paused');
    expect(await ask('/targets?operation=ship')).toMatchObject({ targets: [{ paused: { reason: 'fog' } }] });
    expect(await ask('/operations/ship/resume', { target: MUC })).toMatchObject({ status: 202, resuming: true });
    await resumed();
    expect(kit.sent.group).toHaveLength(1);
    expect(await ask('/operations/ship/resume', { target: MUC })).toEqual({
      status: 200,
      operation: 'ship',
      target: MUC,
      resuming: false,
    });
  });

  it('that is unknown or of another operation is not paused', async () => {
    const { ask, kit } = await started();
    for (const how of ['pause', 'resume']) {
      expect(await ask(`/operations/parcels/${how}`, { target: MUC })).toMatchObject({
        status: 400,
        errors: [{ path: 'target', reason: 'is a Target of ship, not of parcels' }],
      });
      expect(await ask(`/operations/ship/${how}`, { target: 'ship/depot=MUX' })).toMatchObject({ status: 404 });
      expect(await ask(`/operations/ship/${how}`, { target: null })).toMatchObject({ errors: [{ path: 'target' }] });
    }
    expect(await kit.locks.readAll([target('ship/depot=MUX')])).toEqual([undefined]);
    expect((await kit.locks.read(MUC)).paused).toBeUndefined();
  });

  it('shows that it waits for a slot, and its batches in flight', async () => {
    const { ask, kit } = await started();
    const mine = { fence: 1, token: token('t') };
    await kit.locks.acquire(MUC, { ...mine, seen: { fence: 0 }, now: NOW, until: NOW + 1 });
    const open = { batch: slotOf(MUC, 1, 1) as never, round: 1, by: token('b'), until: NOW + 1, perTarget: 1 };
    await kit.locks.openBatch(MUC, mine, open);
    await kit.locks.closeBatch(MUC, open.batch);
    await kit.locks.block(MUC, mine, { round: 1, at: NOW });
    expect(await ask('/targets?operation=ship')).toMatchObject({
      targets: [{ blocked: { since: ISO_NOW }, inFlight: [`${MUC}#1#1`] }],
    });
  });
});

it('a pause accepts only a short reason, and a resume no reason', async () => {
  const { ask, kit } = await started();
  for (const reason of ['', 7, null, 'x'.repeat(201), '\ud800'])
    expect(await ask('/operations/ship/pause', { reason }), String(reason)).toMatchObject({
      status: 400,
      errors: [{ path: 'reason' }],
    });
  for (const [how, body] of [
    ['pause', { until: '1h' }],
    ['resume', { reason: 'mended' }],
  ] as const)
    expect(await ask(`/operations/ship/${how}`, body)).toMatchObject({ status: 400, errors: [{}] });
  expect(await kit.operations.read(SHIP)).toEqual(NEW_OPERATION);
});
