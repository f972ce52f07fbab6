import { beforeEach, describe, expect, it } from 'vitest';
import { api } from '../../src/api/app.ts';
import { batchVisibility } from '../../src/domain/config/resolved.ts';
import type { BatchId, Target } from '../../src/domain/ids.ts';
import { GRACE } from '../../src/domain/timings.ts';
import { register } from '../../src/steps/register/register.ts';
import { batchId, candidate, electedIn, NOW, target } from '../factories/factories.ts';
import { memoryStores } from '../ports/stores.ts';
import { type StepKit, stepKit } from '../steps/step-kit.ts';

describe('the doctor of the API', () => {
  let kit: StepKit;
  let failures: string[];
  beforeEach(() => {
    kit = stepKit(memoryStores());
    failures = [];
  });
  const where = (n: number): Target => target(`ship/depot=D${n}`);
  /** Longer than the age that any finding needs. */
  const long = () => batchVisibility(kit.config) + GRACE + 60_000;

  const ask = async (method: 'GET' | 'POST', path: string, body?: string, deps: StepKit = kit) => {
    const onError = (cause: unknown): void => void failures.push(String(cause));
    const app = api({ ...deps, newId: () => 'id', onError });
    const response = await app.request(`/v1/doctor/${path}`, { method, ...(body === undefined ? {} : { body }) });
    return { status: response.status, answer: await response.json() };
  };
  /** Targets with waiting tasks and no leader. */
  const stranded = async (count: number): Promise<void> => {
    const messages = Array.from({ length: count }, (_, n) => ({
      messageId: `message-${n}`,
      body: JSON.stringify({ operation: 'ship', payload: { depot: `D${n}` } }),
    }));
    await register(kit, messages);
    kit.now += long();
    kit.sent.elect.length = 0;
  };
  /** Sealed batches of a Target, without their messages. */
  const overdue = async (at: Target, count: number): Promise<BatchId[]> => {
    const ids = Array.from({ length: count }, (_, n) => batchId(`${at}#1#${n}`));
    for (const id of ids) {
      const batch = { id, target: at, sealedBy: 'full', candidates: [candidate('a')] } as const;
      const formed = await kit.batches.form({ ...batch, oldestAt: NOW, createdAt: NOW });
      await kit.batches.seal(formed, [], NOW, 1_000);
    }
    kit.now += long();
    return ids;
  };
  const throttled = <Args extends unknown[], Answer>(
    isIt: (...args: Args) => boolean,
    otherwise: (...args: Args) => Promise<Answer>,
  ) => {
    return async (...args: Args): Promise<Answer> => {
      if (isIt(...args)) throw new Error('throttled');
      return otherwise(...args);
    };
  };

  it('shows the circuits of configured destinations', async () => {
    const config = {
      ...kit.config,
      destinations: { ops: { kind: 'queue', name: 'o' }, log: { kind: 'queue', name: 'l' } },
    };
    const openUntil = kit.now + 30_000;
    await kit.shares.write({ version: 0, destinations: { ops: { failures: 5, openUntil } }, slots: [] });
    const { answer } = await ask('GET', 'destinations', undefined, { ...kit, config: config as StepKit['config'] });
    expect(answer).toEqual({
      destinations: [
        { destination: 'ops', phase: 'down', failures: 5, openUntil: new Date(openUntil).toISOString() },
        { destination: 'log', phase: 'calm', failures: 0 },
      ],
    });
    expect(await ask('GET', 'destinations')).toEqual({ status: 200, answer: { destinations: [] } });
  });

  it('shows Targets that are paused, without more reads', async () => {
    await stranded(2);
    await kit.locks.pause(where(1), { id: 'p', by: 'person', since: NOW, reason: 'fog' });
    const { answer } = await ask('GET', 'targets');
    expect(answer).toMatchObject({
      paused: [{ target: where(1), paused: { by: 'person', since: new Date(NOW).toISOString(), reason: 'fog' } }],
    });
  });

  it.each(['GET', 'POST'] as const)('names a Target that it cannot read, and shows the others (%s)', async (method) => {
    await stranded(3);
    const readEventually = throttled((at: Target) => at === where(1), kit.locks.readEventually);
    const { status, answer } = await ask(method, 'targets', undefined, {
      ...kit,
      locks: { ...kit.locks, readEventually },
    });
    const repair = method === 'POST' ? { repaired: true, remedy: 'elect-message' } : {};
    const found = { finding: 'stranded', operation: 'ship', since: new Date(NOW).toISOString(), ...repair };
    expect([status, answer]).toEqual([
      200,
      {
        targets: [where(0), where(1), where(2)],
        paused: [],
        findings: [
          { ...found, target: where(0) },
          { ...found, target: where(2) },
        ],
        skipped: [{ id: where(1), reason: 'throttled' }],
      },
    ]);
    expect([kit.sent.elect.length, failures]).toEqual([method === 'POST' ? 2 : 0, ['Error: throttled']]);
  });

  it('names a finding that it cannot repair, and repairs the others', async () => {
    await stranded(3);
    const elect = throttled((messages) => electedIn(messages[0]) === where(1), kit.queues.elect);
    const { status, answer } = await ask('POST', 'targets', undefined, { ...kit, queues: { ...kit.queues, elect } });
    expect([status, answer]).toMatchObject([
      200,
      {
        findings: [
          { repaired: true },
          { target: where(1), repaired: false, reason: 'throttled' },
          { target: where(2), repaired: true },
        ],
        skipped: [],
      },
    ]);
    expect([kit.events.filter(({ event }) => event === 'repaired').length, failures]).toEqual([
      2,
      ['Error: throttled'],
    ]);
  });

  it('names a batch that it cannot read, and repairs the others', async () => {
    const [bad, ...good] = await overdue(where(0), 3);
    const get = throttled((id: BatchId) => id === bad, kit.batches.get);
    const path = `batches?${new URLSearchParams({ target: where(0) })}`;
    const { status, answer } = await ask('POST', path, undefined, { ...kit, batches: { ...kit.batches, get } });
    expect([status, answer]).toMatchObject([200, { batches: 3, skipped: [{ id: bad, reason: 'throttled' }] }]);
    expect(kit.sent.batch.map((each) => each.batchId).toSorted()).toEqual(good);
  });

  it('refuses unknown parameters, also dryRun, and repairs nothing', async () => {
    await stranded(1);
    const body = '{"dryRun":true,"limit":5}';
    for (const [path, given, unknown] of [
      ['targets', body, ['dryRun', 'limit']],
      ['targets?dryRun=true&operation=ship', undefined, ['dryRun']],
      ['targets?target=ship', '', ['target']],
      ['batches?target=ship/depot=D0', body, ['dryRun', 'limit']],
      ['batches?target=ship/depot=D0&dry-run', '{}', ['dry-run']],
      ['targets', '[]', ['']],
      ['targets', 'dryRun=true', ['']],
    ] as const) {
      const { status, answer } = await ask('POST', path, given);
      const { errors } = answer as { errors: { path: string }[] };
      expect([status, errors.map((each) => each.path)], path).toEqual([400, unknown]);
    }
    expect((await ask('GET', 'targets?dryRun=true')).status).toBe(400);
    expect([kit.sent.elect, kit.events.filter(({ event }) => event === 'repaired')]).toEqual([[], []]);
    for (const nothing of [undefined, '', '{}']) expect((await ask('POST', 'targets', nothing)).status).toBe(200);
    expect(kit.sent.elect).toHaveLength(3);
  });

  it('repairs nothing of an operation that is not configured', async () => {
    const gone = target('gone/depot=A');
    const [id] = await overdue(gone, 1);
    const { status, answer } = await ask('POST', `batches?${new URLSearchParams({ target: gone })}`);
    expect([status, answer]).toMatchObject([
      200,
      {
        findings: [
          { batchId: id, repaired: false, reason: expect.stringMatching(/"gone" .* add the operation again/) },
        ],
      },
    ]);
    // An answered refusal is no failure of the function.
    expect([kit.sent.batch, kit.events, failures]).toEqual([[], [], []]);
  });
});
