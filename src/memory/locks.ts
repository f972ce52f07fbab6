/** Lock rows in memory. */

import { isHeld, type Lock, NO_LOCK } from '../domain/batches/lock.ts';
import { lockExpiresAt } from '../domain/expiry.ts';
import { type Millis, type OperationName, operationOf, type Target, targetPrefix } from '../domain/ids.ts';
import { SECOND } from '../domain/timings.ts';
import type { LockRow, Locks, Mine } from '../ports/locks.ts';
import { type Gate, rowByRow, through } from '../virtual/gate.ts';
import { behind, type Lag, rowBehind, upToDate } from './remembered.ts';
import { memorySlots } from './slots.ts';
import { pageOf, putLock, slotPageKey, type Tables } from './tables.ts';
import { firstRows, rowsOf } from './waiting.ts';

/** @param keepOf returns how long an operation's finished batches are kept, in ms */
export const memoryLocks = (
  tables: Tables,
  gate: Gate,
  lag: Lag = upToDate,
  pageSize?: number,
  keepOf: (operation: OperationName) => Millis = () => Number.POSITIVE_INFINITY,
): Locks => {
  const stored = (target: Target): Lock => tables.locks.get(target) ?? NO_LOCK;
  const expiryOf = (target: Target, now: Millis): number => lockExpiresAt(now, keepOf(operationOf(target)));
  /**
   * A conditional write. `next` returns the row to write, or undefined if the condition fails.
   *
   * @param expires when the row expires after the write; null if never, undefined if the write does not change it
   */
  const write = (
    call: string,
    target: Target,
    next: (lock: Lock) => Lock | undefined,
    expires?: number | null,
  ): Promise<boolean> =>
    through(gate, call, () => {
      const before = stored(target);
      const after = next(before);
      if (!after) return false;
      if (expires === null) tables.expiries.locks.delete(target);
      else if (expires !== undefined) tables.expiries.locks.set(target, expires);
      putLock(tables, target, after, before);
      return true;
    });
  const expiresAtOf = (target: Target): Omit<LockRow, 'lock'> => {
    const expires = tables.expiries.locks.get(target);
    return expires === undefined ? {} : { expiresAt: expires * SECOND };
  };
  const isMine = (lock: Lock, mine: Mine): boolean => lock.fence === mine.fence && lock.holder === mine.token;
  return {
    ...memorySlots<Target>('target', tables, gate, lag, pageSize),
    dropPages: async (target, pages) => {
      const keys = pages.map((page) => slotPageKey({ of: 'target', owner: target, page }));
      await rowByRow(gate, 'locks.dropPages', keys, String, (key) => {
        if (tables.slotPages.get(key)?.slots.length === 0) tables.slotPages.delete(key);
      });
    },
    read: (target) => through(gate, 'locks.read', () => stored(target)),
    readAll: (targets) =>
      gate(
        'locks.readAll',
        targets.map((target) => () => {
          const lock = tables.locks.get(target);
          return lock && { lock, ...expiresAtOf(target) };
        }),
      ),
    enlist: async (targets, now) => {
      const rows = targets.map((target) => ({ target, expires: expiryOf(target, now) }));
      await rowByRow(
        gate,
        'locks.enlist',
        rows,
        ({ target }) => target,
        ({ target, expires }) => {
          if (tables.locks.has(target)) return;
          tables.locks.set(target, NO_LOCK);
          tables.expiries.locks.set(target, expires);
        },
      );
    },
    readEventually: (target) =>
      through(gate, 'locks.readEventually', () => {
        // Use one lag for the lock and the rows, because the adapter reads both with one query.
        const ago = lag();
        const [first] = firstRows(rowsOf(tables, target, ago), 1);
        const lock = rowBehind(tables.locks, target, ago);
        return {
          lock: lock ?? NO_LOCK,
          ...(lock && expiresAtOf(target)),
          ...(first ? { first } : {}),
        };
      }),
    acquire: (target, { fence, token, seen, now, until }) =>
      write(
        'locks.acquire',
        target,
        (lock) =>
          lock.fence === seen.fence && lock.flushedAt === seen.flushedAt && !isHeld(lock, now)
            ? { ...lock, fence, holder: token, lockedUntil: until }
            : undefined,
        expiryOf(target, now),
      ),
    release: (target, mine) =>
      write('locks.release', target, ({ holder, blocked: _, ...lock }) =>
        isMine({ ...lock, ...(holder ? { holder } : {}) }, mine) && !lock.openBatch ? lock : undefined,
      ),
    block: (target, mine, { round, at }) =>
      write('locks.block', target, ({ holder, ...lock }) =>
        isMine({ ...lock, ...(holder ? { holder } : {}) }, mine) && !lock.openBatch && lock.round === round
          ? { ...lock, blocked: at }
          : undefined,
      ),
    blockUnled: (target, { fence, at }) =>
      write('locks.blockUnled', target, (lock) =>
        tables.locks.has(target) && lock.fence === fence && lock.holder === undefined && !lock.openBatch
          ? { ...lock, blocked: at }
          : undefined,
      ),
    handOver: (target, mine, { token, seen, now, until, waits }) =>
      write(
        'locks.handOver',
        target,
        ({ blocked, ...lock }) =>
          isMine(lock, mine) && !lock.openBatch && lock.flushedAt === seen.flushedAt
            ? {
                ...lock,
                ...(blocked !== undefined && !waits ? { blocked } : {}),
                fence: mine.fence + 1,
                holder: token,
                lockedUntil: until,
              }
            : undefined,
        expiryOf(target, now),
      ),
    extend: (target, mine, until) =>
      write('locks.extend', target, (lock) =>
        isMine(lock, mine) && !lock.openBatch ? { ...lock, lockedUntil: until } : undefined,
      ),
    openBatch: (target, mine, { batch, round, by, until, perTarget, largestCap, uncountedAt }) =>
      write('locks.openBatch', target, ({ blocked: _, ...lock }) => {
        const inFlight = lock.inFlight ?? [];
        const mayOpen = isMine(lock, mine) && !lock.openBatch && lock.round === round - 1 && !lock.paused;
        if (!mayOpen || (perTarget && inFlight.length >= perTarget)) return undefined;
        const flight = perTarget ? { inFlight: [...inFlight, batch] } : {};
        const place = largestCap === undefined ? {} : { largestCap };
        const uncounted = uncountedAt === undefined ? {} : { uncountedAt };
        return {
          ...lock,
          ...flight,
          ...place,
          ...uncounted,
          openBatch: batch,
          round,
          openedBy: by,
          lockedUntil: until,
        };
      }),
    count: (target, mine, batches) =>
      write('locks.count', target, (lock) =>
        isMine(lock, mine) && !lock.openBatch
          ? { ...lock, inFlight: [...new Set([...(lock.inFlight ?? []), ...batches])] }
          : undefined,
      ),
    counted: (target, mine, uncountedAt) =>
      write('locks.counted', target, ({ uncountedAt: stored, ...lock }) =>
        isMine(lock, mine) && !lock.openBatch && stored === uncountedAt ? lock : undefined,
      ),
    releaseSlot: async (target, batch) => {
      let before = NO_LOCK;
      await write('locks.releaseSlot', target, ({ inFlight = [], ...lock }) => {
        before = stored(target);
        if (!tables.locks.has(target)) return undefined;
        const rest = inFlight.filter((each) => each !== batch);
        return rest.length > 0 ? { ...lock, inFlight: rest } : lock;
      });
      return before;
    },
    pause: (target, pause) =>
      write(
        'locks.pause',
        target,
        (lock) =>
          lock.paused?.by === 'person' && lock.paused.id === pause.id ? undefined : { ...lock, paused: pause },
        null,
      ),
    noteCall: async (target, last, at, hasWorked = false) => {
      await write('locks.noteCall', target, ({ failedAt: _, ...lock }) => {
        if (lock.fence === 0) return undefined;
        if (last === 'worked') return { ...lock, workedAt: at };
        return { ...(hasWorked ? { workedAt: 0 } : {}), ...lock, failedAt: at };
      });
    },
    resume: (target, id, now) =>
      write(
        'locks.resume',
        target,
        ({ paused, ...lock }) => (paused?.id === id ? lock : undefined),
        expiryOf(target, now),
      ),
    keep: (target, now) => {
      const expires = expiryOf(target, now);
      return through(gate, 'locks.keep', () => {
        const isKept = tables.expiries.locks.has(target);
        if (isKept) tables.expiries.locks.set(target, expires);
        return isKept;
      });
    },
    closeBatch: async (target, batch, uncountedAt) => {
      const uncounted = uncountedAt === undefined ? {} : { uncountedAt };
      await write('locks.closeBatch', target, ({ openBatch, openedBy: _, ...lock }) =>
        openBatch === batch ? { ...lock, ...uncounted } : undefined,
      );
    },
    skipFence: (target, fence, seen, now) =>
      write(
        'locks.skipFence',
        target,
        (lock) =>
          lock.fence === seen && lock.holder === undefined && lock.blocked === undefined
            ? { ...lock, fence }
            : undefined,
        expiryOf(target, now),
      ),
    flush: async (target, at) => {
      await write(
        'locks.flush',
        target,
        (lock) => ({ ...lock, flushedAt: Math.max(lock.flushedAt ?? 0, at) }),
        expiryOf(target, at),
      );
      return through(gate, 'locks.read', () => stored(target));
    },
    targets: (operation, limit, cursor, prefix) =>
      through(gate, 'locks.targets', () => {
        const all = [...behind(tables.locks, lag()).keys()].filter((target) => operationOf(target) === operation);
        const found =
          prefix === undefined ? all : all.filter((target) => target.startsWith(targetPrefix(operation, prefix)));
        return pageOf(found.sort(), limit, cursor);
      }),
    everyTarget: (limit, cursor) =>
      through(gate, 'locks.everyTarget', () => pageOf([...behind(tables.locks, lag()).keys()], limit, cursor)),
  };
};
