/** Lock rows in memory. */
import { operationOf, type Target, targetPrefix } from '../batching/ids.ts';
import { isHeld, type Lock, NO_LOCK } from '../batching/lock.ts';
import type { Locks, Mine } from '../ports.ts';
import { type Gate, through } from './gate.ts';
import { firstRows, rowsOf } from './memory-waiting.ts';
import { behind, type Lag, upToDate } from './remembered.ts';
import { pageOf, putLock, type Tables } from './tables.ts';

export const memoryLocks = (tables: Tables, gate: Gate, lag: Lag = upToDate): Locks => {
  const stored = (target: Target): Lock => tables.locks.get(target) ?? NO_LOCK;
  /** A conditional write: `next` gives the row to write, or undefined where the condition fails. */
  const write = (call: string, target: Target, next: (lock: Lock) => Lock | undefined): Promise<boolean> =>
    through(gate, call, () => {
      const before = stored(target);
      const after = next(before);
      if (after) putLock(tables, target, after, before);
      return after !== undefined;
    });
  const isMine = (lock: Lock, mine: Mine): boolean => lock.fence === mine.fence && lock.holder === mine.token;
  return {
    read: (target) => through(gate, 'locks.read', () => stored(target)),
    readAll: (targets) =>
      gate(
        'locks.readAll',
        targets.map((target) => () => tables.locks.get(target)),
      ),
    enlist: async (targets) => {
      await gate(
        'locks.enlist',
        targets.map((target) => () => {
          if (!tables.locks.has(target)) tables.locks.set(target, NO_LOCK);
        }),
      );
    },
    glance: (target) =>
      through(gate, 'locks.glance', () => {
        // One query: the lock and the rows are of one moment.
        const ago = lag();
        const [first] = firstRows(rowsOf(tables, target, ago), 1);
        return { lock: behind(tables.locks, ago).get(target) ?? NO_LOCK, ...(first ? { first } : {}) };
      }),
    acquire: (target, { fence, token, seen, now, until }) =>
      write('locks.acquire', target, (lock) =>
        lock.fence === seen.fence && lock.flushedAt === seen.flushedAt && !isHeld(lock, now)
          ? { ...lock, fence, holder: token, lockedUntil: until }
          : undefined,
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
    handOver: (target, mine, { token, seen, until, waits }) =>
      write('locks.handOver', target, ({ blocked, ...lock }) =>
        isMine(lock, mine) && !lock.openBatch && lock.flushedAt === seen.flushedAt
          ? {
              ...lock,
              ...(blocked !== undefined && !waits ? { blocked } : {}),
              fence: mine.fence + 1,
              holder: token,
              lockedUntil: until,
            }
          : undefined,
      ),
    openBatch: (target, mine, { batch, round, by, until, perTarget }) =>
      write('locks.openBatch', target, ({ blocked: _, ...lock }) => {
        const inFlight = lock.inFlight ?? [];
        const mayOpen = isMine(lock, mine) && !lock.openBatch && lock.round === round - 1 && !lock.paused;
        if (!mayOpen || (perTarget && inFlight.length >= perTarget)) return undefined;
        const flight = perTarget ? { inFlight: [...inFlight, batch] } : {};
        return { ...lock, ...flight, openBatch: batch, round, openedBy: by, lockedUntil: until };
      }),
    land: async (target, batch) => {
      let before = NO_LOCK;
      await write('locks.land', target, ({ inFlight = [], ...lock }) => {
        before = stored(target);
        if (!tables.locks.has(target)) return undefined;
        const rest = inFlight.filter((each) => each !== batch);
        return rest.length > 0 ? { ...lock, inFlight: rest } : lock;
      });
      return before;
    },
    pause: (target, pause) =>
      write('locks.pause', target, (lock) =>
        lock.paused?.by === 'person' && lock.paused.id === pause.id ? undefined : { ...lock, paused: pause },
      ),
    resume: (target, id) =>
      write('locks.resume', target, ({ paused, ...lock }) => (paused?.id === id ? lock : undefined)),
    closeBatch: async (target, batch) => {
      await write('locks.closeBatch', target, ({ openBatch, openedBy: _, ...lock }) =>
        openBatch === batch ? lock : undefined,
      );
    },
    burn: (target, fence, seen) =>
      write('locks.burn', target, (lock) =>
        lock.fence === seen && lock.holder === undefined ? { ...lock, fence } : undefined,
      ),
    flush: async (target, at) => {
      await write('locks.flush', target, (lock) => ({ ...lock, flushedAt: Math.max(lock.flushedAt ?? 0, at) }));
      return through(gate, 'locks.read', () => stored(target));
    },
    targets: (operation, limit, cursor, prefix) =>
      through(gate, 'locks.targets', () => {
        const all = [...behind(tables.locks, lag()).keys()].filter((target) => operationOf(target) === operation);
        const found =
          prefix === undefined ? all : all.filter((target) => target.startsWith(targetPrefix(operation, prefix)));
        return pageOf(found.sort(), limit, cursor);
      }),
  };
};
