/**
 * Cursors in lists of batches that are sorted by the age of their oldest task. A cursor names the last batch that was
 * listed, so a page begins after it even if batches end meanwhile.
 */
import { type BatchId, isBatchId, type Millis } from '../../domain/ids.ts';
import { InvalidCursor } from '../../ports/rows.ts';
import { parseJson } from '../../util/json-text.ts';

/** The place of a batch in such a list, and of one of its members. */
export interface Position {
  readonly oldestAt: Millis;
  readonly id: BatchId;
  /** The place of a member among all members of the batch, from 0. Absent if the whole batch was listed. */
  readonly member?: number;
}

export const printPosition = ({ oldestAt, id, member }: Position): string =>
  Buffer.from(JSON.stringify([oldestAt, id, ...(member === undefined ? [] : [member])])).toString('base64url');

/** @throws InvalidCursor */
export const positionIn = (cursor: string): Position => {
  const json = parseJson(Buffer.from(cursor, 'base64url').toString());
  const [oldestAt, id, member] = json.ok && Array.isArray(json.value) ? (json.value as unknown[]) : [];
  const isWhole = member === undefined || (Number.isSafeInteger(member) && (member as number) >= 0);
  if (!Number.isSafeInteger(oldestAt) || !isBatchId(id) || !isWhole) throw new InvalidCursor();
  return { oldestAt: oldestAt as number, id, ...(member === undefined ? {} : { member: member as number }) };
};

type Placed = Pick<Position, 'oldestAt' | 'id'>;

export const byPosition = (a: Placed, b: Placed): number =>
  a.oldestAt - b.oldestAt || (a.id < b.id ? -1 : Number(a.id > b.id));

export const isAfter = (batch: Placed, position: Placed): boolean => byPosition(batch, position) > 0;
