/** The incidents of the workers, one after another, and the number of partitions that may move in each. */
import type { Crew } from './crew.ts';
import { type Logged, monotonic, readEntries } from './log.ts';
import { type Verdict, verdictOf } from './verdict.ts';

export interface Spans {
  /** The shortest time for which a process is stopped, in ms. */
  readonly pause: number;
  /** The time for which a main thread is busy, in ms. It is less than `maxBlocked`. */
  readonly block: number;
  /**
   * The time for which a main thread is busy so that other nodes evict its node, in ms: `maxBlocked`, a Ttl, and some
   * cycles.
   */
  readonly longBlock: number;
}

interface Chapter {
  readonly name: string;
  readonly happens: (crew: Crew, spans: Spans, died: Map<string, number>) => Promise<unknown>;
  /** The fewest and the most moves, if each worker has `share` partitions. */
  readonly moves: (share: number, workers: number) => readonly [number, number];
  /** The longest time for which no node may work on a partition, in ms. */
  readonly pause: (crew: Crew, spans: Spans) => number;
  /** The longest time from the return of `onPartition` to its call by the next owner, in ms. @default - no limit */
  readonly handOver?: number;
  /** P13. Whether the partitions of a stopped worker wait for its next process. */
  readonly keepsNames?: true;
}

/** P12. The longest time from the return of `onPartition` to its call by the next owner, in ms. */
const PROMPTLY = 1_000;
/** P13. How long partitions wait for the next process, in ms. */
const RESTART_WITHIN = 60_000;
/** The longest time that a process of this benchmark needs to start on a busy machine, in ms. */
const BOOT = 10_000;

/**
 * A partition that was given away has a new owner after one or two reads. A new node takes nothing in its first three
 * reads (P10).
 */
const givenAway = ({ setting: { cycle } }: Crew): number => 6 * cycle;
/** The other nodes must see the node's lease unchanged for its Ttl before they take its partitions. */
const taken = ({ ttl, setting: { cycle } }: Crew): number => ttl + 5 * cycle;

const kill = async (crew: Crew, name: string, died: Map<string, number>): Promise<void> => {
  const pid = crew.pidOf(name);
  await crew.kill(name);
  died.set(`${name}#${pid}`, monotonic());
};

export const CHAPTERS: readonly Chapter[] = [
  { name: 'nothing', happens: (crew) => crew.cycles(6), moves: () => [0, 0], pause: ({ setting: { cycle } }) => cycle },
  {
    name: 'a busy loop',
    happens: (crew, { block }) => crew.block('w3', block),
    moves: () => [0, 0],
    pause: ({ setting: { cycle } }, { block }) => block + cycle,
  },
  {
    name: 'SIGKILL',
    happens: (crew, _, died) => kill(crew, 'w1', died),
    moves: (share) => [share, share],
    pause: taken,
  },
  {
    name: 'a new one',
    happens: async (crew) => crew.start('w1'),
    moves: (share) => [share, share],
    pause: givenAway,
    handOver: PROMPTLY,
  },
  {
    name: 'SIGSTOP and SIGCONT',
    happens: (crew, { pause }) => crew.pause('w2', pause),
    moves: (share) => [share, 2 * share],
    pause: taken,
  },
  {
    name: 'a busy loop for too long',
    happens: (crew, { longBlock }) => crew.block('w4', longBlock),
    moves: (share) => [share, 2 * share],
    pause: (crew) => crew.setting.maxBlocked + taken(crew),
  },
  {
    name: 'SIGKILL of two at once',
    happens: (crew, _, died) => Promise.all(['w1', 'w2'].map((name) => kill(crew, name, died))),
    moves: (share) => [2 * share, 2 * share],
    pause: taken,
  },
  {
    name: 'two new ones',
    happens: async (crew) => {
      for (const name of ['w1', 'w2']) crew.start(name);
    },
    moves: (share) => [2 * share, 2 * share],
    pause: givenAway,
    handOver: PROMPTLY,
  },
  {
    name: 'a rolling restart',
    happens: async (crew) => {
      for (const name of [...crew.names].sort()) {
        await crew.stop(name);
        crew.start(name);
        await crew.cycles(2);
      }
    },
    // The other workers take the partitions of a leaving worker. The next new worker gets its share from these workers.
    moves: (share, workers) => [share * workers, 2 * share * workers],
    pause: givenAway,
    handOver: PROMPTLY,
  },
  {
    name: 'a rolling restart with names kept',
    happens: async (crew) => {
      for (const name of [...crew.names].sort()) {
        await crew.stop(name);
        crew.start(name);
        await crew.settled();
      }
    },
    moves: () => [0, 0],
    pause: () => BOOT,
    handOver: BOOT,
    keepsNames: true,
  },
  {
    name: 'SIGKILL and restart with the name kept',
    happens: async (crew, _, died) => {
      await kill(crew, 'w1', died);
      crew.start('w1');
    },
    moves: () => [0, 0],
    pause: taken,
    keepsNames: true,
  },
];

export interface Told
  extends Pick<Verdict, 'moves' | 'overlaps' | 'longestOverlap' | 'refused' | 'longestPause' | 'longestHandOver'> {
  readonly name: string;
  readonly expected: readonly [number, number];
  /** The limit of `longestPause`. */
  readonly stated: number;
  /** The limit of `longestHandOver`; infinite if there is none. */
  readonly handOver: number;
  readonly seconds: number;
}

export interface Story {
  readonly chapters: readonly Told[];
  readonly whole: Verdict;
  /** The longest Ttl that was published, in ms. */
  readonly ttl: number;
}

/**
 * Runs chapters in their order.
 * @param names names of the chapters; all chapters if absent
 */
export const tell = async (
  crew: Crew,
  workers: number,
  spans: Spans,
  { names, onChapter = () => {} }: { names?: readonly string[]; onChapter?: (told: Told) => void } = {},
): Promise<Story> => {
  const { cycle, partitions, folder } = crew.setting;
  const died = new Map<string, number>();
  for (let n = 1; n <= workers; n += 1) crew.start(`w${n}`);
  await crew.settled();
  const chapters: Told[] = [];
  for (const { name, happens, moves, pause, handOver = Number.POSITIVE_INFINITY, keepsNames } of CHAPTERS) {
    if (names && !names.includes(name)) continue;
    if (keepsNames) await crew.keepNames(RESTART_WITHIN);
    const from = monotonic();
    await happens(crew, spans, died);
    await crew.settled();
    const to = monotonic();
    // Include the last units before the chapter, because the fleet had been settled for longer than a cycle.
    const within = readEntries(folder).filter(({ at }: Logged) => at >= from - cycle && at < to);
    const verdict = verdictOf(within, died, 2 * cycle);
    const expected = moves(partitions / workers, workers);
    const limits = { expected, stated: pause(crew, spans), handOver };
    const told = { ...figuresOf(verdict), name, ...limits, seconds: (to - from) / 1_000 };
    chapters.push(told);
    onChapter(told);
  }
  await Promise.all(crew.names.map((name) => crew.stop(name)));
  return { chapters, whole: verdictOf(readEntries(folder), died, 2 * cycle), ttl: crew.ttl };
};

const figuresOf = ({ moves, overlaps, longestOverlap, refused, longestPause, longestHandOver }: Verdict) => ({
  ...{ moves, overlaps, longestOverlap, refused, longestPause, longestHandOver },
});
