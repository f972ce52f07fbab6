/**
 * The meaning of a row's `Version` (docs/how-to/upgrade.md, docs/decisions/0015).
 *
 * Each kind of row has versions of its own. A row has the version in which it was written; a row without one has
 * version 1, as the rows of operations had before release 0.2.0. A release reads every version up to `reads`, and
 * writes `writes`. While a new version is being introduced, `writes` is one behind: first one release reads the new
 * version, then the next release writes it.
 *
 * | release | reads | writes |
 * |---|---|---|
 * | 0.1.0 | 1 of every kind; does not check versions | 1 |
 * | 0.2.0 | 1 of every kind | 1 |
 */

import { RELEASE } from '../domain/release.ts';
import { NewerRow } from '../ports/rows.ts';
import type { Item } from './item.ts';

interface Versions {
  readonly reads: number;
  readonly writes: number;
}

const FIRST: Versions = { reads: 1, writes: 1 };

const VERSIONS = {
  task: FIRST,
  payload: FIRST,
  batch: FIRST,
  lock: FIRST,
  'waiting task': FIRST,
  operation: FIRST,
  'waiting Target': FIRST,
  'slot page': FIRST,
  bucket: FIRST,
  'waiting call': FIRST,
  'patrol mark': FIRST,
  stage: FIRST,
  'share of destinations': FIRST,
  'processed key': FIRST,
  // The rows of lists have this kind too.
  'fan-out': FIRST,
  'fan-out node': FIRST,
  'fan-out token': FIRST,
  'list append': FIRST,
  'list segment': FIRST,
  'list trigger': FIRST,
  'list claim': FIRST,
  'list jobs': FIRST,
  'list result': FIRST,
  'fleet name': FIRST,
  'fleet lease': FIRST,
  'fleet checkpoint': FIRST,
  'fleet node': FIRST,
  'audit entry': FIRST,
} satisfies Record<string, Versions>;

/** The kinds of rows. */
export type RowKind = keyof typeof VERSIONS;

export const ROW_KINDS = Object.keys(VERSIONS) as readonly RowKind[];

/** The `Version` of a new row. */
export const versionOf = (kind: RowKind): number => VERSIONS[kind].writes;

/** The newest version of a kind that this release reads. */
export const readsUpTo = (kind: RowKind): number => VERSIONS[kind].reads;

/** Nodes of fan-outs store their version as `v`, because each of their bytes counts. */
const storedIn = ({ Version, v }: Item): number => (Version ?? v ?? 1) as number;

/** The parts of a row's key, as a person would search for it. */
const nameOf = ({ Id, BatchId, Target, Fleet, Month, Entry }: Item): string =>
  [Id ?? BatchId ?? Target ?? Fleet ?? Month, Entry].filter((part) => part !== undefined).join(' / ');

/**
 * Returns the row if this release can read it.
 *
 * @throws NewerRow
 */
export const readable = <Row extends Item>(kind: RowKind, row: Row): Row => {
  const version = storedIn(row);
  if (version <= readsUpTo(kind)) return row;
  throw new NewerRow({ kind, name: nameOf(row), version, reads: readsUpTo(kind), release: RELEASE });
};

/**
 * Sets the version in a write that may create the row; `:version` is {@link versionOf}. An existing row keeps its
 * version, even if it is newer, because the row's other attributes keep the form of that version.
 */
export const VERSION_AT_FIRST = 'Version = if_not_exists(Version, :version)';

/** The condition of a write without a read before it; `:reads` is {@link readsUpTo}. */
export const NOT_NEWER = '(attribute_not_exists(Version) OR Version <= :reads)';
