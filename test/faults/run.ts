/** One run of real faults: its course, and the faults found in the end. */
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { temporaryFolder } from '../../lib/temporary-folder.ts';
import { seeded } from '../../src/virtual/random.ts';
import { type Fields, operationAt } from '../end-to-end/operations.ts';
import { freePorts } from '../factories/free-ports.ts';
import { DOWNSTREAM_FAULTS, type FaultyDownstream, startFaultyDownstream } from './faulty-downstream.ts';
import { type Faults, faultsIn, type Ledger } from './ledger.ts';
import { type Kill, type Lives, livesIn } from './lives.ts';
import { PRODUCER_DEEDS, type Producers, startProducers } from './producers.ts';
import { endsOf, restOf, type StackView, stateOf, storedTasks, viewOf } from './stack-view.ts';

export interface RunOptions {
  readonly seed: number;
  /** The count of kills of the runtime. */
  readonly kills: number;
  /** Whether to wait until the last hint was handled, which takes a minute: a late hint may do harm. */
  readonly toTheLastMessage: boolean;
}

export interface Ending {
  readonly ledger: Ledger;
  readonly faults: Faults;
  readonly lives: Lives;
  /** Messages left in queues, by queue. */
  readonly left: Readonly<Record<string, number>>;
  /** The count of each fault of the downstream and of the producers. */
  readonly done: ReadonlyMap<string, number>;
  /** The history and the place of some of the tasks with a fault. */
  readonly histories: readonly string[];
}

/** The longest wait for everything to come to rest (ms); far more than necessary. */
const PATIENCE = 600_000;
/** The count of tasks whose history is reported. */
const HISTORIES = 5;
/** Short, since many calls hang. */
const timeout = '1s';
const OPERATIONS: Readonly<Record<string, Fields>> = {
  ship: { timeout, batch: { maxSize: 20, maxWait: '300ms' }, retry: { maxAttempts: 50 } },
  gather: { timeout, batch: { maxSize: 50, maxWait: '2s' }, retry: { maxAttempts: 50 } },
};

export const runFaults = async ({ seed, kills, toTheLastMessage }: RunOptions): Promise<Ending> => {
  const random = seeded(seed);
  const anotherSeed = (): number => random.int(0, 2 ** 31);
  const downstream = await startFaultyDownstream(seeded(anotherSeed()));
  const folder = folderFor(downstream.url);
  const port = await freePorts();
  const lives = livesIn({ folder, port, random: seeded(anotherSeed()), downstream });
  try {
    const { view, producers } = await lives.endBy(kills, () => {
      const view = viewOf(folder);
      return { view, producers: startProducers(view, Object.keys(OPERATIONS), anotherSeed()) };
    });
    const done = (): Map<string, number> => new Map([...downstream.done, ...producers.done]);
    // On a slow machine some faults may not have occurred yet. The test that expects them reports those that never
    // occur.
    const all = [...DOWNSTREAM_FAULTS, ...PRODUCER_DEEDS];
    const until = Date.now() + PATIENCE;
    while (!all.every((each) => done().has(each)) && Date.now() < until) await setTimeout(50);
    await producers.stop();
    const { ledger, left } = await comeToRest(view, producers, downstream, toTheLastMessage);
    const faults = faultsIn(ledger);
    const concerned = [...new Set(Object.values(faults).flat())];
    const tell = async (id: string): Promise<string> =>
      [...historyOf(id, ledger, downstream, lives.kills), ...(await stateOf(view, id))].join('\n  ');
    const histories = await Promise.all(concerned.slice(0, HISTORIES).map(tell));
    await lives.stop();
    if (concerned.length > 0) cpSync(folder, join('.cache', `faults-${seed}`), { recursive: true });
    return { ledger, faults, left, done: done(), histories, lives };
  } catch (cause) {
    throw new Error(`seed ${seed}: the run was aborted; processes that ended by themselves: ${lives.failures}`, {
      cause,
    });
  } finally {
    await lives.stop();
    await downstream.stop();
  }
};

/** Waits until every task has ended, including stored tasks without an acknowledgement. */
const comeToRest = async (
  view: StackView,
  { acknowledged }: Producers,
  { calls, given }: FaultyDownstream,
  toTheLastMessage: boolean,
): Promise<Pick<Ending, 'ledger' | 'left'>> => {
  const sent = await endsOf(view, [...acknowledged.keys()], PATIENCE);
  const left = toTheLastMessage ? await restOf(view, PATIENCE) : {};
  const others = (await storedTasks(view)).filter((id) => !sent.has(id));
  const shown = new Map([...sent, ...(await endsOf(view, others, PATIENCE))]);
  return { ledger: { acknowledged, calls, given, shown }, left };
};

/** A new folder with the configuration of the run. */
const folderFor = (url: string): string => {
  const folder = temporaryFolder('faults');
  const operations = Object.entries(OPERATIONS).map(([name, fields]) => [name, operationAt(url, fields)]);
  const config = { operations: Object.fromEntries(operations) };
  writeFileSync(join(folder, 'groupage.config.json'), JSON.stringify(config));
  return folder;
};

/** The recorded events of a task, in order. */
const historyOf = (id: string, ledger: Ledger, downstream: FaultyDownstream, kills: readonly Kill[]): string[] => {
  const sent = ledger.acknowledged.get(id);
  const calls = ledger.calls.filter(({ items }) => items.some((item) => item.id === id));
  const from = sent?.at ?? calls[0]?.at ?? 0;
  const events = [
    ...(sent ? [{ at: sent.at, what: `acknowledged (${sent.via}), for ${sent.target}` }] : []),
    ...calls.map((call) => ({
      at: call.at,
      what: `the downstream is called: ${call.batchId}, attempt ${call.attempt}, ${call.items.length} items: ${downstream.answerTo(call)}`,
    })),
    ...kills.map(({ at, of }) => ({ at, what: `killed: ${of}` })),
  ];
  return [
    `${id}:`,
    ...events
      .filter(({ at }) => at >= from)
      .toSorted((a, b) => a.at - b.at)
      .map(({ at, what }) => `${new Date(at).toISOString()} ${what}`),
    `it was answered: ${JSON.stringify(ledger.given.get(id) ?? [])}`,
  ];
};
