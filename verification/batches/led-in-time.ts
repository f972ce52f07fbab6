/** A promise that holds despite all faults: once the faults are over, no Target waits long for a leader. */

import { waitEnd } from '../../src/domain/batches/policy.ts';
import { operationFor } from '../../src/domain/config/resolved.ts';
import type { Millis } from '../../src/domain/ids.ts';
import { MAX_DELAY } from '../../src/domain/timings.ts';
import { demand } from '../../src/virtual/violation.ts';
import { type Evidence, waitsOf } from './evidence.ts';

/**
 * A dead letter waits for a sweep, and then for up to the longest delay of a message. In addition, the message may be
 * late and the leader may be paused.
 */
export const LED_WITHIN: Millis = 2 * MAX_DELAY;

/**
 * Each Target with waiting tasks gets a leader, and its batch is sealed, within {@link LED_WITHIN} after the batch is
 * due or after the last fault. Operations whose batches may have to wait for a cap, limit, circuit or pause are left out.
 * @throws Violation
 */
export const checkLedInTime = ({ config, tables, waitFor, repairedAt }: Evidence): void => {
  if (repairedAt === undefined) return;
  for (const batch of tables.batches.values()) {
    if (waitFor.has(batch.operation)) continue;
    // Dropped candidates do not count. A register function that stood still may write the waiting row of a task that
    // has ended. Such a row needs no leader.
    const candidates = batch.candidates.filter((each) => !batch.dropped.includes(each));
    const since = waitsOf(tables, { ...batch, candidates }).filter((at) => at !== undefined);
    const due = waitEnd(Math.min(batch.createdAt, ...since), operationFor(config, batch.operation).batch);
    const { sealedAt = Number.POSITIVE_INFINITY } = batch;
    demand(sealedAt <= Math.max(due, repairedAt) + LED_WITHIN, 'each Target with waiting tasks gets a leader in time', {
      batch,
      due,
      repairedAt,
    });
  }
};
