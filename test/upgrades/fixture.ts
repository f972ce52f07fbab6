/** Fixtures: the packed data folders that releases left, with their expected content. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { brotliCompressSync, brotliDecompressSync } from 'node:zlib';
import { LOCAL_FOLDER } from '../../tools/local/local-folder.ts';

const FIXTURES = join(import.meta.dirname, 'fixtures');
const QUEUES = 'fauxqs.db';
const PACKED = '.br';

/** A fleet as its release last showed it. */
export interface FleetSeen {
  readonly fleet: string;
  readonly partitions: readonly {
    readonly id: string;
    readonly owner?: string | undefined;
    readonly fence: number;
    readonly checkpoint?: string | undefined;
  }[];
}

interface Group {
  readonly id: number;
  readonly count: number;
}

/** The work that the next release must continue, besides the work with fixed names. */
export interface Filled {
  readonly retried: { readonly id: string; readonly attempt: number };
  readonly job: { readonly id: string };
  readonly holding: { readonly id: string };
  readonly fanOut: {
    readonly id: string;
    readonly groups: readonly Group[];
    /** The count of acked items, from the first on. */
    readonly acked: number;
    readonly failed: number;
    readonly itemOfTask: string;
  };
  /** `left` are the claim's jobs that are not done. */
  readonly list: { readonly id: string; readonly claim: string; readonly left: readonly number[] };
  readonly fleets: readonly FleetSeen[];
}

export interface Expected extends Filled {
  readonly release: string;
  /** The time of the kill, in milliseconds since the epoch. */
  readonly writtenAt: number;
}

/** The items of a fan-out, in order. */
export const itemsOf = (fanOut: string, groups: readonly Group[]): readonly string[] =>
  groups.flatMap(({ id, count }) => Array.from({ length: count }, (_, n) => `${fanOut}:${id}:${n}`));

/** The releases with a fixture. */
export const releases = (): readonly string[] => readdirSync(FIXTURES).sort();

/** Makes a fixture of a folder in which a release was killed. */
export const pack = (folder: string, expected: Expected): void => {
  const to = join(FIXTURES, expected.release);
  rmSync(to, { recursive: true, force: true });
  mkdirSync(to, { recursive: true });
  const data = join(folder, LOCAL_FOLDER);
  for (const file of readdirSync(data).filter((name) => /\.db(-wal)?$/.test(name)))
    writeFileSync(join(to, `${file}${PACKED}`), brotliCompressSync(readFileSync(join(data, file))));
  writeFileSync(join(to, 'expected.json'), `${JSON.stringify(expected, null, 2)}\n`);
};

/** Unpacks a fixture into a folder, to start a release there. */
export const unpack = (release: string, folder: string): Expected => {
  const [from, to] = [join(FIXTURES, release), join(folder, LOCAL_FOLDER)];
  mkdirSync(to, { recursive: true });
  for (const file of readdirSync(from).filter((name) => name.endsWith(PACKED)))
    writeFileSync(join(to, file.slice(0, -PACKED.length)), brotliDecompressSync(readFileSync(join(from, file))));
  return JSON.parse(readFileSync(join(from, 'expected.json'), 'utf8')) as Expected;
};

/** The count of messages in each queue of a folder in which no stack runs. */
export const messagesIn = (folder: string): Record<string, number> => {
  const db = new DatabaseSync(join(folder, LOCAL_FOLDER, QUEUES), { readOnly: true });
  try {
    const rows = db.prepare('SELECT queue_name AS queue, COUNT(*) AS n FROM sqs_messages GROUP BY queue_name').all();
    return Object.fromEntries(rows.map(({ queue, n }) => [String(queue), Number(n)]));
  } finally {
    db.close();
  }
};
