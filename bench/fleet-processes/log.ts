/** What each worker writes down as it happens, so that SIGKILL takes none of it away. */
import { readdirSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { FleetEvent } from '../../src/domain/fleets/events.ts';

/** Milliseconds, of one clock for all processes of a machine; it goes on while a process is stopped. */
export const monotonic = (): number => Number(process.hrtime.bigint()) / 1e6;

export type Entry =
  /** `onPartition` is called, with a checkpoint of before. */
  | { readonly is: 'call'; readonly at: number; readonly p: string; readonly fence: number; readonly from: number }
  /** A unit begins; `at` was read before it asked whether the partition is its own. */
  | { readonly is: 'begin'; readonly at: number; readonly p: string; readonly fence: number }
  | { readonly is: 'end'; readonly at: number; readonly p: string; readonly fence: number }
  | {
      readonly is: 'checkpoint';
      /** When it was sent. */
      readonly from: number;
      readonly at: number;
      readonly p: string;
      readonly fence: number;
      readonly value: number;
      readonly outcome: 'accepted' | 'refused' | 'unknown';
    }
  | { readonly is: 'event'; readonly at: number; readonly event: FleetEvent };

/** Of a process: `name#pid`. */
export type Logged = Entry & { readonly who: string };

/** In pieces that the system has at once: nothing of it is kept here. */
export const writeEntry = (file: number, entry: Entry): void => {
  writeSync(file, `${JSON.stringify(entry)}\n`);
};

/** All entries of all workers, in the order of their time. */
export const readEntries = (folder: string): readonly Logged[] =>
  readdirSync(folder)
    .filter((file) => file.endsWith('.jsonl'))
    .flatMap((file) =>
      readFileSync(join(folder, file), 'utf8')
        .split('\n')
        // Its last line may have been cut by SIGKILL: one that nothing follows.
        .slice(0, -1)
        .map((line): Logged => ({ ...(JSON.parse(line) as Entry), who: file.slice(0, -'.jsonl'.length) })),
    )
    .sort((a, b) => a.at - b.at);
