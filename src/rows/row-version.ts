/**
 * What the `Version` of a row means (docs/how-to/upgrade.md, docs/decisions/0015).
 *
 * Each kind of row has versions of its own. A row has that in which it was written; one without is of version 1, as the rows
 * of operations were before release 0.2.0. A release reads every version up to `reads`, and writes `writes`, which is one
 * behind while a new version is on its way: first comes a release that reads it, then one that writes it.
 *
 * | release | reads | writes |
 * |---|---|---|
 * | 0.1.0 | 1 of every kind, and looks at no version | 1 |
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
  'patrol mark': FIRST,
  'share of destinations': FIRST,
  'processed key': FIRST,
  // Lists have one of these, too.
  'fan-out': FIRST,
  'fan-out node': FIRST,
  'fan-out token': FIRST,
  'list append': FIRST,
  'list segment': FIRST,
  'list trigger': FIRST,
  'list jobs': FIRST,
  'list result': FIRST,
  'fleet name': FIRST,
  'fleet lease': FIRST,
  'fleet checkpoint': FIRST,
  'fleet node': FIRST,
} satisfies Record<string, Versions>;

/** Everything that is stored as a row of its own. */
export type RowKind = keyof typeof VERSIONS;

export const ROW_KINDS = Object.keys(VERSIONS) as readonly RowKind[];

/** What a row that is written gets as its `Version`. */
export const versionOf = (kind: RowKind): number => VERSIONS[kind].writes;

/** The newest version of a kind that this release understands. */
export const readsUpTo = (kind: RowKind): number => VERSIONS[kind].reads;

/** Nodes of fan-outs have one letter for it: each of their bytes counts. */
const storedIn = ({ Version, v }: Item): number => (Version ?? v ?? 1) as number;

/** Whatever of a row's key is there, as a person would look for it. */
const nameOf = ({ Id, BatchId, Target, Fleet, Entry }: Item): string =>
  [Id ?? BatchId ?? Target ?? Fleet, Entry].filter((part) => part !== undefined).join(' / ');

/**
 * A row as it is, if this release understands it.
 *
 * @throws NewerRow
 */
export const readable = <Row extends Item>(kind: RowKind, row: Row): Row => {
  const version = storedIn(row);
  if (version <= readsUpTo(kind)) return row;
  throw new NewerRow({ kind, name: nameOf(row), version, reads: readsUpTo(kind), release: RELEASE });
};

/**
 * What a write sets that may be a row's first one, with `:version` as {@link versionOf}. A row that is there keeps its version,
 * also a newer one that this release reads: what else is in it stays as that version has it.
 */
export const VERSION_AT_FIRST = 'Version = if_not_exists(Version, :version)';

/** The condition of a write that was not preceded by a read; `:reads` is {@link readsUpTo}. */
export const NOT_NEWER = '(attribute_not_exists(Version) OR Version <= :reads)';
