/** The BatchLock table's rows (design, section 4): a Target's lock, its waiting tasks, and the patrol's mark. */

import { type Lock, NO_LOCK } from '../domain/batches/lock.ts';
import { type Waiting, type WaitingTask, waitingRow } from '../domain/batches/policy.ts';
import {
  type BatchId,
  type Candidate,
  type OperationName,
  operationOf,
  parseCandidate,
  type Target,
  type Token,
} from '../domain/ids.ts';
import type { SentWhen } from '../domain/tasks/age.ts';
import { SECOND } from '../domain/timings.ts';
import type { LockRow } from '../ports/locks.ts';
import type { PatrolMark } from '../ports/patrol-marks.ts';
import type { Item } from './item.ts';
import { pauseOf } from './pause-item.ts';
import { readable, versionOf } from './row-version.ts';

export const LOCK_ENTRY = 'lock';
/** Sorts behind `lock`, so that one query reads the lock and the first waiting row. */
export const WAITING_PREFIX = 'wait#';
/** A partition that is no Target: `~` begins no operation's name. */
export const PATROL_KEY: Item = { Target: '~patrol', Entry: 'mark' };

export const lockKey = (target: Target): Item => ({ Target: target, Entry: LOCK_ENTRY });

/** The row of a Target that nobody ever led. @param expires in seconds of the epoch */
export const lockItem = (target: Target, expires: number): Item => ({
  ...lockKey(target),
  Operation: operationOf(target),
  ExpiresAt: expires,
  Version: versionOf('lock'),
});

/** @throws NewerRow */
export const lockOf = (stored: Item | undefined): Lock => {
  if (stored === undefined) return NO_LOCK;
  const row = readable('lock', stored);
  return {
    fence: (row.Fence as number | undefined) ?? 0,
    round: (row.Round as number | undefined) ?? 0,
    lockedUntil: (row.LockedUntil as number | undefined) ?? 0,
    ...(row.LockHolder === undefined ? {} : { holder: row.LockHolder as Token }),
    ...(row.OpenBatch === undefined ? {} : { openBatch: row.OpenBatch as BatchId }),
    ...(row.OpenedBy === undefined ? {} : { openedBy: row.OpenedBy as Token }),
    ...(row.FlushedAt === undefined ? {} : { flushedAt: row.FlushedAt as number }),
    ...(row.InFlight === undefined ? {} : { inFlight: [...(row.InFlight as Set<BatchId>)] }),
    ...(row.UncountedAt === undefined ? {} : { uncountedAt: row.UncountedAt as number }),
    ...(row.LargestCap === undefined ? {} : { largestCap: row.LargestCap as number }),
    ...(row.Blocked === undefined ? {} : { blocked: row.Blocked as number }),
    ...(row.Paused === undefined ? {} : { paused: pauseOf(row.Paused as Item) }),
  };
};

/** When a stored lock row expires. */
export const lockExpiryOf = (stored: Item | undefined): Omit<LockRow, 'lock'> =>
  stored?.ExpiresAt === undefined ? {} : { expiresAt: (stored.ExpiresAt as number) * SECOND };

export const waitingKey = (target: Target, entry: string): Item => ({
  Target: target,
  Entry: `${WAITING_PREFIX}${entry}`,
});

export const waitingItem = (target: Target, task: WaitingTask): Item => {
  const { entry, at, bytes, weight, key, age, startBy } = waitingRow(task);
  return {
    ...waitingKey(target, entry),
    At: at,
    Bytes: bytes,
    Version: versionOf('waiting task'),
    ...(weight === 1 ? {} : { Weight: weight }),
    ...(key === undefined ? {} : { Key: key }),
    ...(age === undefined ? {} : { SentAt: age.sentAt }),
    ...(age?.version === undefined ? {} : { TaskVersion: age.version }),
    ...(startBy === undefined ? {} : { StartBy: startBy }),
  };
};

/** The age that a row shows, without the id of its task. */
export const ageIn = ({ SentAt, TaskVersion }: Item): SentWhen => ({
  sentAt: SentAt as number,
  ...(TaskVersion === undefined ? {} : { version: TaskVersion as number }),
});

/** @throws NewerRow */
export const waitingOf = (stored: Item): Waiting => {
  const row = readable('waiting task', stored);
  const entry = (row.Entry as string).slice(WAITING_PREFIX.length);
  // The turn in front of the candidate has no `#` of its own.
  const candidate = entry.slice(entry.indexOf('#') + 1) as Candidate;
  return {
    entry,
    candidate,
    at: row.At as number,
    bytes: row.Bytes as number,
    weight: (row.Weight as number | undefined) ?? 1,
    ...(row.Key === undefined ? {} : { key: row.Key as string }),
    ...(row.SentAt === undefined ? {} : { age: { id: parseCandidate(candidate).id, ...ageIn(row) } }),
    ...(row.StartBy === undefined ? {} : { startBy: row.StartBy as number }),
  };
};

/** @throws NewerRow */
export const patrolMarkOf = (stored: Item): PatrolMark => {
  const row = readable('patrol mark', stored);
  return {
    operation: row.PatrolOperation as OperationName,
    seen: row.Seen as number,
    lastRound: row.LastRound as number,
    ...(row.Cursor === undefined ? {} : { cursor: row.Cursor as string }),
  };
};

/** Not `Operation`: that is the key of the index of lock rows. */
export const patrolMarkItem = ({ operation, seen, lastRound, cursor }: PatrolMark): Item => ({
  ...PATROL_KEY,
  PatrolOperation: operation,
  Seen: seen,
  LastRound: lastRound,
  Version: versionOf('patrol mark'),
  ...(cursor === undefined ? {} : { Cursor: cursor }),
});
