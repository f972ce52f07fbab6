import { beforeEach, describe, expect, it } from 'vitest';
import { type Lock, NO_LOCK } from '../../src/domain/batches/lock.ts';
import type { Waiting } from '../../src/domain/batches/policy.ts';
import type { Target } from '../../src/domain/ids.ts';
import { InvalidCursor } from '../../src/ports/rows.ts';
import { register } from '../../src/steps/register/register.ts';
import { sweep } from '../../src/steps/repair/sweep.ts';
import { batchId, electedIn, operationName, target } from '../factories/factories.ts';
import { memoryStores } from '../ports/stores.ts';
import { type StepKit, stepKit } from './step-kit.ts';

describe('the patrol', () => {
  let kit: StepKit;
  const depot = (n: number): Target => target(`ship/depot=D${n}`);
  /** Targets with waiting tasks and without a leader. */
  const stranded = async (count: number): Promise<void> => {
    const messages = Array.from({ length: count }, (_, n) => ({
      messageId: `message-${n}`,
      body: JSON.stringify({ operation: 'ship', payload: { depot: `D${100 + n}` } }),
    }));
    await register(kit, messages);
    kit.now += 3_600_000;
    kit.sent.elect.length = 0;
  };
  /** Runs one minute's sweep and returns its error, if any. */
  const minute = async (deps: StepKit = kit): Promise<unknown> => {
    kit.sent.elect.length = 0;
    return sweep(deps, { timeLeft: () => 50_000 }).catch((cause: unknown) => cause);
  };
  const elected = (): ReadonlySet<Target | undefined> => new Set(kit.sent.elect.map(electedIn));
  beforeEach(() => {
    kit = stepKit(memoryStores());
  });

  /** Two Targets whose calls fail. */
  const fails = (at: Target | undefined): boolean => at === depot(112) || at === depot(130);
  it.each([
    [
      'scanned',
      (): StepKit => ({
        ...kit,
        locks: {
          ...kit.locks,
          readEventually: async (at) => {
            if (fails(at)) throw new Error('throttled');
            return kit.locks.readEventually(at);
          },
        },
      }),
    ],
    [
      'repaired',
      (): StepKit => ({
        ...kit,
        queues: {
          ...kit.queues,
          elect: async (messages) => {
            if (messages.some((each) => fails(electedIn(each)))) throw new Error('throttled');
            await kit.queues.elect(messages);
          },
        },
      }),
    ],
  ])('goes on with other Targets if some cannot be %s, and names them', async (_, broken) => {
    await stranded(150);
    const failure = await minute(broken());
    expect(String(failure)).toContain(`${depot(112)}: Error: throttled; ${depot(130)}: Error: throttled`);
    // A slice of 100 without the two that failed.
    expect(elected().size).toBe(98);
    // The next slice scans the rest of the round, and no Target twice.
    expect(await minute(broken())).toBeUndefined();
    expect([...elected()]).toEqual(Array.from({ length: 50 }, (_, n) => depot(200 + n)));
  });

  const DAY = 24 * 3_600_000;
  const PAUSE = { id: 'p', by: 'person', since: 0 } as const;
  /** The Targets whose rows were kept longer in one minute, if each row has `left` milliseconds before it expires. */
  const keptWith = async (left: number, lock: Partial<Lock> = {}, first?: Waiting): Promise<readonly Target[]> => {
    const kept: Target[] = [];
    const locks: StepKit['locks'] = {
      ...kit.locks,
      readEventually: async () => ({
        lock: { ...NO_LOCK, ...lock },
        expiresAt: kit.now + left,
        ...(first ? { first } : {}),
      }),
      keep: async (target) => kept.push(target) > 0,
    };
    await kit.locks.enlist([depot(1)], kit.now);
    await minute({ ...kit, locks });
    return kept;
  };

  it.each<[string, Partial<Lock>]>([
    ['is paused', { paused: PAUSE }],
    ['waits for a slot', { blocked: 0 }],
    ['has batches in flight', { inFlight: [batchId('ship/depot=1#1#1')] }],
  ])('extends the row of a Target that %s, 50 days before it expires', async (_, lock) => {
    expect(await keptWith(50 * DAY, lock)).toEqual([]);
    expect(await keptWith(50 * DAY - 1, lock)).toEqual([depot(1)]);
  });

  it('extends the row of a Target with waiting tasks', async () => {
    await stranded(1);
    const [first] = await kit.waiting.first(depot(100), 1);
    if (!first) throw new Error('no task waits');
    expect(await keptWith(50 * DAY - 1, {}, first)).toContain(depot(1));
  });

  it('names at most twenty failures', async () => {
    await stranded(30);
    const readEventually = () => Promise.reject(new Error('throttled'));
    const failure = await minute({ ...kit, locks: { ...kit.locks, readEventually } });
    expect(String(failure).match(/throttled/g)).toHaveLength(20);
    expect(String(failure)).toContain('; and 10 more');
  });

  it('keeps its progress if it cannot read the rest of the list of Targets', async () => {
    await stranded(50);
    const locks: StepKit['locks'] = {
      ...kit.locks,
      targets: async (operation, limit, cursor) => {
        if (cursor) throw new Error('throttled');
        return kit.locks.targets(operation, limit, cursor);
      },
    };
    expect(String(await minute({ ...kit, locks }))).toContain('the Targets of ship: Error: throttled');
    expect([elected().size, (await kit.patrolMarks.read())?.seen]).toEqual([25, 25]);
    await minute();
    expect(elected()).toEqual(new Set(Array.from({ length: 25 }, (_, n) => depot(125 + n))));
  });

  it('restarts an operation whose stored mark is invalid, and reports that once', async () => {
    await stranded(3);
    const locks: StepKit['locks'] = {
      ...kit.locks,
      targets: async (operation, limit, cursor) => {
        if (cursor === 'nowhere') throw new InvalidCursor();
        return kit.locks.targets(operation, limit, cursor);
      },
    };
    await kit.patrolMarks.write({ operation: operationName('ship'), cursor: 'nowhere', seen: 7, lastRound: 9_000 });
    expect(String(await minute({ ...kit, locks }))).toContain('InvalidCursor');
    expect(await kit.patrolMarks.read()).toEqual({ operation: 'ship', seen: 7, lastRound: 9_000 });
    expect(await minute({ ...kit, locks })).toBeUndefined();
    expect(elected().size).toBe(3);
  });
});
