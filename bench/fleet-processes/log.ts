/** The log of each worker. Every entry is written at once, so that SIGKILL loses no entry. */
import { readdirSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { FleetEvent } from '../../src/domain/fleets/events.ts';

/**
 * The time in milliseconds by a clock that all processes of a machine share. The clock continues while a process is
 * stopped.
 */
export const monotonic = (): number => Number(process.hrtime.bigint()) / 1e6;

export type Entry =
  /** `onPartition` is called with the checkpoint of an earlier owner. */
  | { readonly is: 'call'; readonly at: number; readonly p: string; readonly fence: number; readonly from: number }
  /** A unit begins. `at` was read before the check that the partition is still owned. */
  | { readonly is: 'begin'; readonly at: number; readonly p: string; readonly fence: number }
  | { readonly is: 'end'; readonly at: number; readonly p: string; readonly fence: number }
  | {
      readonly is: 'checkpoint';
      /** The time at which the checkpoint was sent. */
      readonly from: number;
      readonly at: number;
      readonly p: string;
      readonly fence: number;
      readonly value: number;
      readonly outcome: 'accepted' | 'refused' | 'unknown';
    }
  | { readonly is: 'event'; readonly at: number; readonly event: FleetEvent };

/** An entry with its process, as `name#pid`. */
export type Logged = Entry & { readonly who: string };

/** Writes an entry with one system call, so that this process buffers nothing. */
export const writeEntry = (file: number, entry: Entry): void => {
  writeSync(file, `${JSON.stringify(entry)}\n`);
};

/** All entries of all workers, ordered by time. */
export const readEntries = (folder: string): readonly Logged[] =>
  readdirSync(folder)
    .filter((file) => file.endsWith('.jsonl'))
    .flatMap((file) =>
      readFileSync(join(folder, file), 'utf8')
        .split('\n')
        // SIGKILL may have cut off the last line of a process.
        .slice(0, -1)
        .map((line): Logged => ({ ...(JSON.parse(line) as Entry), who: file.slice(0, -'.jsonl'.length) })),
    )
    .sort((a, b) => a.at - b.at);
