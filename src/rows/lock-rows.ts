/**
 * The rows of the table BatchLock: the locks and waiting rows of Targets, the patrol's progress, and pages of slots. A
 * Target's lock and its waiting rows share a partition, so that one strongly consistent query reads the waiting rows in
 * order. Each page of slots is a row with a set, in other partitions.
 */
import { type Lock, NO_LOCK } from '../domain/batches/lock.ts';
import { type Waiting, type WaitingTask, waitingRow } from '../domain/batches/policy.ts';
import { type BatchId, type Candidate, operationOf, parseCandidate, type Target } from '../domain/ids.ts';
import { PAGE_SIZE, PAGES_TOGETHER, type SlotPage } from '../domain/operations/slot-pages.ts';
import type { Pause, Slot } from '../domain/operations/slots.ts';
import type { RulesMode } from '../domain/producers/rules.ts';
import type { SentWhen } from '../domain/tasks/age.ts';
import { SECOND } from '../domain/timings.ts';
import type { LockRow, PatrolMark } from '../ports/locks.ts';
import { type Attributes, type Item, read, written } from './item.ts';
import { readable, versionOf } from './row-version.ts';

export const LOCK_ENTRY = 'lock';
/** Sorts after `lock`, so that one query reads the lock and the first waiting row. */
export const WAITING_PREFIX = 'wait#';
/** The key of the patrol's row. Its partition cannot be a Target's, because no operation's name begins with `~`. */
export const PATROL_KEY: Item = { Target: '~patrol', Entry: 'mark' };

export const lockKey = (target: Target): Item => ({ Target: target, Entry: LOCK_ENTRY });

/** The row of a Target that has had no leader. @param expires in seconds since the epoch */
export const lockItem = (target: Target, expires: number): Item => ({
  ...lockKey(target),
  Operation: operationOf(target),
  ExpiresAt: expires,
  Version: versionOf('lock'),
});

const LOCK: Attributes<Omit<Lock, 'inFlight' | 'paused'>> = {
  fence: 'Fence',
  round: 'Round',
  lockedUntil: 'LockedUntil',
  holder: 'LockHolder',
  openBatch: 'OpenBatch',
  openedBy: 'OpenedBy',
  flushedAt: 'FlushedAt',
  uncountedAt: 'UncountedAt',
  largestCap: 'LargestCap',
  blocked: 'Blocked',
  failedAt: 'FailedAt',
  workedAt: 'WorkedAt',
};

/** @throws NewerRow */
export const lockOf = (stored: Item | undefined): Lock => {
  if (stored === undefined) return NO_LOCK;
  const row = readable('lock', stored);
  return {
    ...NO_LOCK,
    ...read(LOCK, row),
    ...(row.InFlight === undefined ? {} : { inFlight: [...(row.InFlight as Set<BatchId>)] }),
    ...(row.Paused === undefined ? {} : { paused: pauseOf(row.Paused as Item) }),
  };
};

const PAUSE: Attributes<Pause> = { id: 'Id', by: 'By', since: 'Since', until: 'Until', reason: 'Reason' };

/** A pause as stored in the row of an operation or a Target. */
export const pauseItem = (pause: Pause): Item => written(PAUSE, pause);
export const pauseOf = (item: Item): Pause => read(PAUSE, item);

/** When a stored lock row expires. */
export const lockExpiryOf = (stored: Item | undefined): Omit<LockRow, 'lock'> =>
  stored?.ExpiresAt === undefined ? {} : { expiresAt: (stored.ExpiresAt as number) * SECOND };

export const waitingKey = (target: Target, entry: string): Item => ({
  Target: target,
  Entry: `${WAITING_PREFIX}${entry}`,
});

const WAITING: Attributes<Pick<Waiting, 'at' | 'bytes' | 'key' | 'sender' | 'ownKey' | 'startBy'>> = {
  at: 'At',
  bytes: 'Bytes',
  key: 'Key',
  sender: 'Sender',
  ownKey: 'OwnKey',
  startBy: 'StartBy',
};
const AGE: Attributes<SentWhen> = { sentAt: 'SentAt', version: 'TaskVersion' };

export const waitingItem = (target: Target, task: WaitingTask): Item => {
  const row = waitingRow(task);
  return {
    ...waitingKey(target, row.entry),
    ...written(WAITING, row),
    ...(row.weight === 1 ? {} : { Weight: row.weight }),
    ...(row.isAlone ? { Alone: true } : {}),
    ...(row.age === undefined ? {} : written(AGE, row.age)),
    Version: versionOf('waiting task'),
  };
};

/** The age in a waiting row, without the id of its task. */
export const ageIn = (row: Item): SentWhen => read(AGE, row);

/** @throws NewerRow */
export const waitingOf = (stored: Item): Waiting => {
  const row = readable('waiting task', stored);
  const entry = (row.Entry as string).slice(WAITING_PREFIX.length);
  // The number before the candidate contains no `#`.
  const candidate = entry.slice(entry.indexOf('#') + 1) as Candidate;
  return {
    entry,
    candidate,
    weight: (row.Weight as number | undefined) ?? 1,
    ...read(WAITING, row),
    ...(row.Alone ? { isAlone: true } : {}),
    ...(row.SentAt === undefined ? {} : { age: { id: parseCandidate(candidate).id, ...ageIn(row) } }),
  };
};

/** The attribute is not called `Operation`, because that is the key of the index of lock rows. */
const MARK: Attributes<PatrolMark> = {
  operation: 'PatrolOperation',
  seen: 'Seen',
  lastRound: 'LastRound',
  cursor: 'Cursor',
};

/** @throws NewerRow */
export const patrolMarkOf = (stored: Item): PatrolMark => read(MARK, readable('patrol mark', stored));

export const patrolMarkItem = (mark: PatrolMark): Item => ({
  ...PATROL_KEY,
  ...written(MARK, mark),
  Version: versionOf('patrol mark'),
});

/** The key of the stage's row. Its partition cannot be a Target's, because no operation's name begins with `~`. */
export const STAGE_KEY: Item = { Target: '~stage', Entry: 'producer-rules' };

export const stageItem = (mode: RulesMode): Item => ({ ...STAGE_KEY, Mode: mode, Version: versionOf('stage') });

/** @throws NewerRow */
export const stageModeOf = (stored: Item): RulesMode => readable('stage', stored).Mode as RulesMode;

const PREFIX = 'slots#';

/**
 * Neither a Target nor an operation's name contains `#`.
 *
 * @param owner the partition of the Target or of the operation
 */
const partitionOf = (owner: string, part: number): string => `${owner}#slots-${part}`;

/** The partitions of all pages for `cap` slots, except the first page. */
export const slotPartitions = (owner: string, cap: number): readonly string[] => {
  const pages = Math.max(0, Math.ceil(cap / PAGE_SIZE));
  return Array.from({ length: Math.ceil(pages / PAGES_TOGETHER) }, (_, part) => partitionOf(owner, part));
};

/** @param page 1 or more */
export const slotPageKey = (owner: string, page: number): Item => ({
  Target: partitionOf(owner, Math.floor((page - 1) / PAGES_TOGETHER)),
  Entry: `${PREFIX}${String(page).padStart(3, '0')}`,
});

/** @throws NewerRow */
export const slotPageOf = (stored: Item): SlotPage => {
  const { Entry } = readable('slot page', stored);
  return { page: Number((Entry as string).slice(PREFIX.length)), slots: slotsOf(stored) };
};

export const slotsOf = ({ InFlight = [] }: Item): readonly Slot[] => [...(InFlight as Iterable<Slot>)];
