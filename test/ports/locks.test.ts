import { expect, it } from 'vitest';
import { NO_LOCK } from '../../src/domain/batches/lock.ts';
import type { OperationName } from '../../src/domain/ids.ts';
import type { Pause } from '../../src/domain/operations/slots.ts';
import { batchId, candidate, NOW, target, token } from '../factories/factories.ts';
import { describeEach } from './describe-each.ts';
import { fresh } from './names.ts';
import { storeKinds } from './stores.ts';

describeEach('a lock', storeKinds, (stores) => {
  const mine = { fence: 1, token: token('mine') };
  const take = { ...mine, seen: { fence: 0 }, now: NOW, until: NOW + 1_000 };

  it('that no leader ever took reads as fence 0', async () => {
    expect(await stores().locks.read(fresh().target)).toEqual(NO_LOCK);
  });

  it('is read together with others, in the order asked', async () => {
    const [one, none, other] = [fresh().target, fresh().target, fresh().target];
    const { locks } = stores();
    await locks.acquire(one, take);
    await locks.skipFence(other, 7, 0, NOW);
    expect(await locks.readAll([one, none, other])).toEqual([
      { lock: await locks.read(one), expiresAt: expect.any(Number) },
      undefined,
      { lock: await locks.read(other), expiresAt: expect.any(Number) },
    ]);
    expect(await locks.readAll([])).toEqual([]);
  });

  it('keeps how the last call for its Target ended, and whether one ever succeeded', async () => {
    const { target } = fresh();
    const { locks } = stores();
    const noted = async () => {
      const { failedAt, workedAt } = await locks.read(target);
      return { failedAt, workedAt };
    };
    await locks.noteCall(target, 'failed', NOW);
    expect(await locks.read(target), 'no row is created').toEqual(NO_LOCK);
    await locks.acquire(target, take);
    await locks.noteCall(target, 'failed', NOW);
    expect(await noted()).toEqual({ failedAt: NOW });
    await locks.noteCall(target, 'worked', NOW + 1);
    expect(await noted()).toEqual({ workedAt: NOW + 1 });
    await locks.noteCall(target, 'failed', NOW + 2, true);
    expect(await noted()).toEqual({ failedAt: NOW + 2, workedAt: NOW + 1 });
    const other = fresh().target;
    await locks.acquire(other, take);
    await locks.noteCall(other, 'failed', NOW, true);
    expect(await locks.read(other)).toMatchObject({ failedAt: NOW, workedAt: 0 });
  });

  it('is taken by one of several rivals', async () => {
    const { target } = fresh();
    const { locks } = stores();
    const rivals = Array.from({ length: 8 }, (_, n) => locks.acquire(target, { ...take, token: token(`t${n}`) }));
    expect((await Promise.all(rivals)).filter((won) => won)).toHaveLength(1);
    expect(await locks.acquire(target, { ...take, fence: 2, seen: { fence: 1 }, token: token('late') })).toBe(false);
    expect(await locks.read(target)).toMatchObject({ fence: 1, lockedUntil: NOW + 1_000 });
  });

  it('whose lease has ended is taken by a function that read its fence', async () => {
    const { target } = fresh();
    const { locks } = stores();
    await locks.acquire(target, take);
    const later = { token: token('next'), now: NOW + 1_001, until: NOW + 5_000 };
    expect(await locks.acquire(target, { ...later, fence: 2, seen: { fence: 1 }, now: NOW + 1_000 })).toBe(false);
    expect(await locks.acquire(target, { ...later, fence: 1, seen: { fence: 0 } })).toBe(false);
    expect(await locks.acquire(target, { ...later, fence: 2, seen: { fence: 1 } })).toBe(true);
    expect(await locks.read(target)).toEqual({ fence: 2, round: 0, holder: 'next', lockedUntil: NOW + 5_000 });
  });

  it('is released and handed over by its holder only, and with no open batch', async () => {
    const { target, batch } = fresh();
    const { locks } = stores();
    await locks.acquire(target, take);
    const next = { token: token('next'), seen: { fence: 1 }, now: NOW, until: NOW + 9_000 };
    const foreign = [
      { fence: 1, token: token('other') },
      { fence: 2, token: token('mine') },
    ];
    for (const other of foreign) {
      expect(await locks.release(target, other)).toBe(false);
      expect(await locks.handOver(target, other, next)).toBe(false);
      expect(await locks.openBatch(target, other, { batch, round: 1, by: token('turn'), until: NOW })).toBe(false);
    }
    expect(await locks.openBatch(target, mine, { batch, round: 1, by: token('turn'), until: NOW + 2_000 })).toBe(true);
    expect(await locks.release(target, mine)).toBe(false);
    expect(await locks.handOver(target, mine, next)).toBe(false);
    await locks.closeBatch(target, batchId('another'));
    expect((await locks.read(target)).openBatch).toBe(batch);
    await locks.closeBatch(target, batch);
    await locks.closeBatch(target, batch);
    expect(await locks.handOver(target, mine, next)).toBe(true);
    expect(await locks.release(target, mine)).toBe(false);
    expect(await locks.release(target, { fence: 2, token: token('next') })).toBe(true);
    expect(await locks.read(target)).toEqual({ fence: 2, round: 1, lockedUntil: NOW + 9_000 });
  });

  it('that was flushed is not handed over until its leader has read again', async () => {
    const { target } = fresh();
    const { locks } = stores();
    await locks.acquire(target, take);
    await locks.flush(target, NOW + 3);
    const next = { token: token('next'), now: NOW, until: NOW + 9_000 };
    expect(await locks.handOver(target, mine, { ...next, seen: { fence: 1 } })).toBe(false);
    expect(await locks.handOver(target, mine, { ...next, seen: { fence: 1, flushedAt: NOW + 2 } })).toBe(false);
    expect(await locks.handOver(target, mine, { ...next, seen: { fence: 1, flushedAt: NOW + 3 } })).toBe(true);
  });

  it('opens one batch at a time, each in the next round', async () => {
    const { target, batch } = fresh();
    const { locks } = stores();
    await locks.acquire(target, take);
    expect(await locks.openBatch(target, mine, { batch, round: 2, by: token('turn'), until: NOW })).toBe(false);
    expect(await locks.openBatch(target, mine, { batch, round: 1, by: token('turn'), until: NOW })).toBe(true);
    expect(await locks.openBatch(target, mine, { batch: batchId('b2'), round: 2, by: token('turn'), until: NOW })).toBe(
      false,
    );
    await locks.closeBatch(target, batch);
    expect(await locks.openBatch(target, mine, { batch, round: 1, by: token('turn'), until: NOW })).toBe(false);
    expect(await locks.openBatch(target, mine, { batch: batchId('b2'), round: 2, by: token('turn'), until: NOW })).toBe(
      true,
    );
  });

  /** A Target whose lock is mine. */
  const led = async () => {
    const names = fresh();
    await stores().locks.acquire(names.target, take);
    return names;
  };
  const opening = (batch: ReturnType<typeof batchId>, round = 1, perTarget?: number | null) => ({
    batch,
    round,
    by: token('turn'),
    until: NOW,
    ...(perTarget === undefined ? {} : { perTarget }),
  });

  it('opens batches up to the cap, and another after a slot is free', async () => {
    const { target } = await led();
    const { locks } = stores();
    const open = async (round: number, perTarget: number): Promise<boolean> => {
      const batch = batchId(`${target}#1#${round}`);
      const opened = await locks.openBatch(target, mine, opening(batch, round, perTarget));
      await locks.closeBatch(target, batch);
      return opened;
    };
    expect([await open(1, 2), await open(2, 2), await open(3, 2)]).toEqual([true, true, false]);
    const [first, second] = [1, 2].map((round) => batchId(`${target}#1#${round}`)) as [never, never];
    expect([...((await locks.read(target)).inFlight ?? [])].sort()).toEqual([first, second]);
    const before = await locks.releaseSlot(target, first);
    expect(before).toMatchObject({ fence: 1, round: 2, holder: 'mine' });
    expect([...(before.inFlight ?? [])].sort()).toEqual([first, second]);
    // Repeated, also with no batch in flight: the answer is the state before the call.
    expect((await locks.releaseSlot(target, first)).inFlight).toEqual([second]);
    expect(await open(3, 2)).toBe(true);
    for (const round of [2, 3]) await locks.releaseSlot(target, batchId(`${target}#1#${round}`));
    expect(await locks.releaseSlot(target, first)).not.toHaveProperty('inFlight');
    expect(await locks.read(target)).not.toHaveProperty('inFlight');
    expect(await open(4, 1)).toBe(true);
  });

  it('counts no batch in flight without a cap', async () => {
    const { target, batch } = await led();
    expect(await stores().locks.openBatch(target, mine, opening(batch, 1, null))).toBe(true);
    expect(await stores().locks.read(target)).not.toHaveProperty('inFlight');
  });

  it('without a row releases no slot, and gets no row', async () => {
    const { target, batch } = fresh();
    expect(await stores().locks.releaseSlot(target, batch)).toEqual(NO_LOCK);
    expect(await stores().locks.readAll([target])).toEqual([undefined]);
  });

  it("opens no batch while paused; only the pause's id ends the pause", async () => {
    const { target, batch } = await led();
    const { locks } = stores();
    const pause: Pause = { id: 'pause-1', by: 'person', since: NOW, reason: 'maintenance' };
    expect([await locks.pause(target, pause), await locks.pause(target, pause)]).toEqual([true, false]);
    expect((await locks.read(target)).paused).toEqual(pause);
    expect(await locks.openBatch(target, mine, opening(batch))).toBe(false);
    expect(await locks.pause(target, { ...pause, id: 'pause-2' })).toBe(true);
    expect([await locks.resume(target, 'pause-1', NOW), await locks.openBatch(target, mine, opening(batch))]).toEqual([
      false,
      false,
    ]);
    expect([await locks.resume(target, 'pause-2', NOW), await locks.resume(target, 'pause-2', NOW)]).toEqual([
      true,
      false,
    ]);
    expect(await locks.read(target)).toEqual({ fence: 1, round: 0, holder: 'mine', lockedUntil: NOW + 1_000 });
    expect(await locks.openBatch(target, mine, opening(batch))).toBe(true);
  });

  it('can be paused before its row exists, and is then listed', async () => {
    const listed = target('pausing/depot=new');
    const { locks } = stores();
    expect(await locks.pause(listed, { id: 'pause', by: 'person', since: NOW })).toBe(true);
    expect((await locks.targets('pausing' as Parameters<typeof locks.targets>[0], 9)).items).toEqual([listed]);
    expect(await locks.acquire(listed, take)).toBe(true);
    expect((await locks.read(listed)).paused).toMatchObject({ id: 'pause' });
  });

  it('enters the slot queue by its holder only, and with no open batch', async () => {
    const { target, batch } = await led();
    const { locks } = stores();
    const read = { round: 0, at: NOW - 9 };
    for (const other of [
      { fence: 1, token: token('other') },
      { fence: 2, token: token('mine') },
    ])
      expect(await locks.block(target, other, read)).toBe(false);
    expect(await locks.block(target, mine, { ...read, round: 1 })).toBe(false);
    await locks.openBatch(target, mine, opening(batch));
    for (const round of [0, 1]) expect(await locks.block(target, mine, { ...read, round })).toBe(false);
    await locks.closeBatch(target, batch);
    expect(await locks.block(target, mine, read)).toBe(false);
    expect(await locks.block(target, mine, { ...read, round: 1 })).toBe(true);
    const blocked = { fence: 1, round: 1, lockedUntil: NOW, blocked: NOW - 9 };
    expect(await locks.read(target)).toEqual(blocked);
    expect(await locks.block(target, mine, { ...read, round: 1 })).toBe(false);
    expect((await locks.readEventually(target)).lock).toEqual(blocked);
  });

  it('enters the slot queue without a leader, at the same fence', async () => {
    const { target, batch } = await led();
    const { locks } = stores();
    const seen = { fence: 1, at: NOW - 9 };
    expect(await locks.blockUnled(fresh().target, { fence: 0, at: NOW })).toBe(false);
    expect(await locks.blockUnled(target, seen)).toBe(false);
    await locks.openBatch(target, mine, opening(batch));
    expect(await locks.blockUnled(target, seen)).toBe(false);
    await locks.closeBatch(target, batch);
    await locks.release(target, mine);
    expect(await locks.blockUnled(target, { ...seen, fence: 0 })).toBe(false);
    expect(await locks.blockUnled(target, seen)).toBe(true);
    expect(await locks.read(target)).toEqual({ fence: 1, round: 1, lockedUntil: NOW, blocked: NOW - 9 });
    expect(await locks.blockUnled(target, seen)).toBe(true);
  });

  /** A Target in the slot queue that has a leader again. */
  const blockedAndLed = async () => {
    const names = await led();
    const { locks } = stores();
    await locks.block(names.target, mine, { round: 0, at: NOW - 9 });
    await locks.acquire(names.target, { ...take, fence: 2, seen: { fence: 1 } });
    expect(await locks.read(names.target)).toMatchObject({ fence: 2, blocked: NOW - 9 });
    return { ...names, mine: { ...mine, fence: 2 } };
  };

  it('leaves the slot queue at a batch, a release or a hand-over to wait', async () => {
    const { locks } = stores();
    const next = { token: token('next'), seen: { fence: 2 }, now: NOW, until: NOW + 9_000 };
    const opened = await blockedAndLed();
    await locks.openBatch(opened.target, opened.mine, opening(opened.batch));
    expect(await locks.read(opened.target)).not.toHaveProperty('blocked');
    const released = await blockedAndLed();
    await locks.release(released.target, released.mine);
    expect(await locks.read(released.target)).not.toHaveProperty('blocked');
    const waiting = await blockedAndLed();
    expect(await locks.handOver(waiting.target, waiting.mine, { ...next, waits: true })).toBe(true);
    expect(await locks.read(waiting.target)).not.toHaveProperty('blocked');
    for (const waits of [false, undefined]) {
      const atOnce = await blockedAndLed();
      const how = waits === undefined ? next : { ...next, waits };
      expect(await locks.handOver(atOnce.target, atOnce.mine, how)).toBe(true);
      expect(await locks.read(atOnce.target)).toMatchObject({ fence: 3, holder: 'next', blocked: NOW - 9 });
    }
  });

  it('whose fence was skipped is free for the next fence', async () => {
    const { target } = fresh();
    const { locks } = stores();
    expect(await locks.skipFence(target, 1, 0, NOW)).toBe(true);
    expect(await locks.skipFence(target, 1, 0, NOW)).toBe(false);
    expect(await locks.acquire(target, { ...take, fence: 2, seen: { fence: 1 } })).toBe(true);
    expect(await locks.skipFence(target, 3, 2, NOW)).toBe(false);
  });

  it('shows its flush and its first waiting row in an eventually consistent read', async () => {
    const { target, t } = fresh();
    const { locks, waiting } = stores();
    expect(await locks.readEventually(target)).toEqual({ lock: NO_LOCK });
    await waiting.put([2, 1].map((n) => ({ id: t(n), run: 1, target, createdAt: NOW + n, bytes: 1 })));
    expect((await locks.flush(target, NOW + 7)).flushedAt).toBe(NOW + 7);
    // The later flush stands if clocks differ or a request is repeated late.
    expect((await locks.flush(target, NOW + 5)).flushedAt).toBe(NOW + 7);
    // A function that read the lock before the flush has to read again: the batch may be due now.
    expect(await locks.acquire(target, take)).toBe(false);
    expect(await locks.acquire(target, { ...take, seen: { fence: 0, flushedAt: NOW + 7 } })).toBe(true);
    const readEventually = await locks.readEventually(target);
    expect(readEventually.lock).toEqual({
      fence: 1,
      round: 0,
      holder: 'mine',
      lockedUntil: NOW + 1_000,
      flushedAt: NOW + 7,
    });
    expect(readEventually.first?.candidate).toBe(candidate(t(1)));
  });

  it('shows its expiry, which can be extended if the row exists', async () => {
    const { target } = fresh();
    const { locks } = stores();
    const DAY = 24 * 3_600_000;
    expect(await locks.keep(target, NOW)).toBe(false);
    expect(await locks.readAll([target])).toEqual([undefined]);
    await locks.enlist([target], NOW);
    const { expiresAt = 0 } = await locks.readEventually(target);
    expect(expiresAt).toBeGreaterThan(NOW + 60 * DAY);
    expect(await locks.readAll([target])).toEqual([{ lock: NO_LOCK, expiresAt }]);
    expect(await locks.keep(target, NOW + 9 * DAY)).toBe(true);
    expect((await locks.readEventually(target)).expiresAt).toBe(expiresAt + 9 * DAY);
    await locks.pause(target, { id: 'pause', by: 'person', since: NOW });
    expect(await locks.keep(target, NOW + 19 * DAY)).toBe(false);
    expect(await locks.readEventually(target)).not.toHaveProperty('expiresAt');
  });

  it('gets a row without a leader, which changes no existing row', async () => {
    const { target } = fresh();
    const { locks } = stores();
    await locks.enlist([target], NOW);
    expect(await locks.readAll([target])).toMatchObject([{ lock: NO_LOCK }]);
    expect(await locks.acquire(target, take)).toBe(true);
    const led = await locks.read(target);
    await locks.enlist([target], NOW + 1);
    expect(await locks.read(target)).toEqual(led);
  });

  it('with a row and no leader lists its Target for its operation', async () => {
    const { locks } = stores();
    const listed = target('listing/depot=new');
    await locks.enlist([listed], NOW);
    const operation = 'listing' as Parameters<typeof locks.targets>[0];
    expect((await locks.targets(operation, 2)).items).toEqual([listed]);
  });

  it('is found by a case-sensitive prefix of its Target, page by page', async () => {
    const { locks } = stores();
    const names = ['depot=MUC', 'depot=MUCX', 'depot=MU', 'depot=muc', 'depot=JFK', 'depot=NYC'];
    const all = names.map((name) => target(`finding/${name}`));
    await locks.enlist([...all, target('finding2/depot=MUC'), target('finding~1')], NOW);
    const found = async (prefix: string, limit: number): Promise<unknown[]> => {
      const items: unknown[] = [];
      let cursor: string | undefined;
      do {
        const page = await locks.targets('finding' as OperationName, limit, cursor, prefix);
        items.push(...page.items);
        cursor = page.cursor;
      } while (cursor !== undefined);
      return items;
    };
    for (const limit of [1, 2, 9]) {
      expect(await found('depot=MU', limit)).toEqual(
        ['depot=MU', 'depot=MUC', 'depot=MUCX'].map((each) => `finding/${each}`),
      );
      expect(await found('depot=MUCX', limit)).toEqual(['finding/depot=MUCX']);
      expect(await found('MUC', limit)).toEqual([]);
      expect(await found('', limit)).toEqual(all.toSorted());
    }
  });

  it('is listed for its operation, page by page', async () => {
    const names = ['b', 'a', 'c'].map((name) => target(`paging/depot=${name}`));
    const { locks } = stores();
    for (const each of names) await locks.acquire(each, take);
    const operation = 'paging' as Parameters<typeof locks.targets>[0];
    const page = await locks.targets(operation, 2);
    const rest = await locks.targets(operation, 2, page.cursor);
    expect([...page.items, ...rest.items]).toEqual(names.toSorted());
    expect(rest.cursor).toBeUndefined();
  });
});
