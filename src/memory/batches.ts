/** Batches in memory. */
import { type Batch, isFinished, membersOf } from '../domain/batches/batch.ts';
import { expiresAt } from '../domain/expiry.ts';
import { type BatchId, operationOf } from '../domain/ids.ts';
import type { Batches, FormingBatch, UnderWay } from '../ports/batches.ts';
import { type Gate, through } from '../virtual/gate.ts';
import { behind, type Lag, upToDate } from './remembered.ts';
import { newestFirst, pageOf, putBatch, type Tables } from './tables.ts';

export const memoryBatches = (tables: Tables, gate: Gate, lag: Lag = upToDate): Batches => {
  /** A conditional write. Returns the written batch, or undefined if the condition failed. */
  const write = (call: string, id: BatchId, next: (batch: Batch) => Batch | undefined): Promise<Batch | undefined> =>
    through(gate, call, () => {
      const before = tables.batches.get(id);
      const after = before && next(before);
      if (after) putBatch(tables, after);
      return after;
    });
  const isMine = (batch: Batch, attempt: number): boolean =>
    batch.status === 'in-progress' && batch.attempt === attempt;
  return {
    form: (forming) =>
      through(gate, 'batches.form', () => {
        const stored = tables.batches.get(forming.id);
        if (stored) return stored;
        const batch = formed(forming);
        putBatch(tables, batch);
        return batch;
      }),
    get: (id) => through(gate, 'batches.get', () => tables.batches.get(id)),
    seal: (batch, dropped, at, keep) =>
      through(gate, 'batches.seal', () => {
        const stored = tables.batches.get(batch.id) ?? batch;
        if (stored.status !== 'forming') return { batch: stored, byMe: false };
        const isEmpty = membersOf({ ...stored, dropped }).length === 0;
        const end = isEmpty
          ? { status: 'succeeded' as const, counts: { succeeded: 0, failed: 0 }, finishedAt: at }
          : { status: 'sealed' as const };
        const sealed = { ...stored, dropped, sealedAt: at, ...end };
        if (isEmpty) tables.expiries.batches.set(batch.id, expiresAt(at, keep));
        putBatch(tables, sealed);
        return { batch: sealed, byMe: true };
      }),
    start: async (id, { attempt, countedAttempts, uncounted, token, at, runUntil, grants }) => {
      const started = await write('batches.start', id, (batch) =>
        batch.attempt === attempt - 1 &&
        (batch.status === 'sealed' || (batch.status === 'in-progress' && batch.runUntil < at))
          ? {
              ...batch,
              status: 'in-progress',
              attempt,
              countedAttempts,
              ...(uncounted === undefined ? {} : { uncounted }),
              startedBy: token,
              runUntil,
              ...(grants ? { grants } : {}),
              startedAt: batch.startedAt ?? at,
            }
          : undefined,
      );
      return started !== undefined;
    },
    hold: async (id, { after, ...held }) => {
      const noted = await write('batches.hold', id, (batch) => {
        if (isFinished(batch.status)) return undefined;
        const { by, span, isUncounted } = batch.held ?? { by: undefined, span: 0, isUncounted: false };
        const isFree = span < held.span || by === after;
        return isFree || (held.isUncounted && !isUncounted) ? { ...batch, held } : undefined;
      });
      return noted !== undefined;
    },
    postpone: async (id, attempt, { retryAt, ...rest }) => {
      const postponed = await write('batches.postpone', id, (batch) => {
        const { startedBy: _, ...idle } = withoutRest(batch);
        return isMine(batch, attempt) ? { ...idle, ...rest, runUntil: retryAt } : undefined;
      });
      return postponed !== undefined;
    },
    place: async (id) => {
      const placed = await write('batches.place', id, (batch) =>
        isFinished(batch.status) || batch.status === 'forming' ? undefined : { ...batch, targetPage: 0 },
      );
      return placed !== undefined;
    },
    finish: (id, attempt, { status, counts, at, keep, calls }) =>
      write('batches.finish', id, (batch) => {
        if (!isMine(batch, attempt)) return undefined;
        tables.expiries.batches.set(id, expiresAt(at, keep));
        return { ...withoutRest(batch), status, counts, finishedAt: at, ...(calls ? { calls } : {}) };
      }),
    ofTarget: (target, limit, cursor) =>
      through(gate, 'batches.ofTarget', () => {
        const sealed = [...behind(tables.batches, lag()).values()].filter(
          (batch) => batch.target === target && batch.sealedAt !== undefined,
        );
        const page = pageOf(
          newestFirst(sealed, ({ sealedAt }) => sealedAt ?? 0),
          limit,
          cursor,
        );
        return { ...page, items: page.items.map(({ id }) => id) };
      }),
    underWay: (operation, limit, cursor) =>
      through(gate, 'batches.underWay', () => {
        const listed = [...behind(tables.batches, lag()).values()]
          .filter((batch) => batch.operation === operation && isListed(batch))
          .toSorted((a, b) => a.oldestAt - b.oldestAt);
        const page = pageOf(listed, limit, cursor);
        return { ...page, items: page.items.map(underWayOf) };
      }),
  };
};

const withoutRest = ({
  open: _,
  pending: __,
  split: ___,
  parts: ____,
  partFailures: _____,
  spared: ______,
  suspicion: _______,
  uncounted: ________,
  ...batch
}: Batch) => batch;

/** Whether the index of batches under way contains a batch. */
const isListed = ({ status, attempt, lastAttempt, held }: Batch): boolean =>
  !isFinished(status) && (attempt > 1 || lastAttempt !== undefined || held !== undefined);

const underWayOf = (batch: Batch): UnderWay => {
  const { id, target, oldestAt, lastAttempt } = batch;
  const tasks = lastAttempt?.open ?? membersOf(batch).length;
  return { id, target, oldestAt, tasks, ...(lastAttempt ? { lastAttempt } : {}) };
};

/** A new batch with the fields that every adapter stores. */
const formed = (batch: FormingBatch): Batch => ({
  ...batch,
  operation: operationOf(batch.target),
  status: 'forming',
  dropped: [],
  attempt: 0,
  countedAttempts: 0,
  runUntil: 0,
});
