/** The log of each worker, written as things happen, so that SIGKILL loses nothing. */
import { readdirSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { FleetEvent } from '../../src/domain/fleets/events.ts';

/** Milliseconds of one clock for all processes of a machine. It continues while a process is stopped. */
export const monotonic = (): number => Number(process.hrtime.bigint()) / 1e6;

export type Entry =
  /** `onPartition` is called with an earlier checkpoint. */
  | { readonly is: 'call'; readonly at: number; readonly p: string; readonly fence: number; readonly from: number }
  /** A unit begins; `at` was read before the check whether the partition is still owned. */
  | { readonly is: 'begin'; readonly at: number; readonly p: string; readonly fence: number }
  | { readonly is: 'end'; readonly at: number; readonly p: string; readonly fence: number }
  | {
      readonly is: 'checkpoint';
      /** Time at which the checkpoint was sent. */
      readonly from: number;
      readonly at: number;
      readonly p: string;
      readonly fence: number;
      readonly value: number;
      readonly outcome: 'accepted' | 'refused' | 'unknown';
    }
  | { readonly is: 'event'; readonly at: number; readonly event: FleetEvent };

/** The process: `name#pid`. */
export type Logged = Entry & { readonly who: string };

/** Each entry is written with one system call at once, so this process buffers nothing. */
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
        // SIGKILL may have cut a process's last line.
        .slice(0, -1)
        .map((line): Logged => ({ ...(JSON.parse(line) as Entry), who: file.slice(0, -'.jsonl'.length) })),
    )
    .sort((a, b) => a.at - b.at);
