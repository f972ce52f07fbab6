/**
 * Keeps the metrics of a local stack in its data folder, so that the charts continue after a restart. The file is only
 * for the charts: a problem with it is reported in one line, and the stack works without it.
 */
import { existsSync, readFileSync } from 'node:fs';
import { rename, rm, writeFile } from 'node:fs/promises';
import * as z from 'zod';
import { METRICS, type MetricName } from '../../../src/domain/events/metrics.ts';
import type { Millis } from '../../../src/domain/ids.ts';
import { parseJson } from '../../../src/util/json-text.ts';
import { reasonOf } from '../../../src/util/problems.ts';
import { type LocalMetrics, type SavedMetrics, WINDOWS } from './local-metrics.ts';

/** The shortest time between two writes. */
const EVERY: Millis = 15_000;
/** A write is followed by a pause that is this many times as long, so that writes take less than 1% of the time. */
const REST = 100;
/** Metrics that are saved for longer are not continued: no chart shows them. */
const KEPT: Millis = 24 * 3_600_000;
/** The format of the file. Change it when a file of this release is no longer readable. */
const VERSION = 1;

const finite = z.number();
const FILE = z.strictObject({
  version: z.literal(VERSION),
  since: finite,
  savedAt: finite,
  series: z.array(
    z.strictObject({
      metric: z.enum(Object.keys(METRICS) as [MetricName]),
      of: z.partialRecord(z.enum(['operation', 'reason', 'queue', 'destination']), z.string()),
      sum: finite,
      steps: z
        .array(z.array(finite).refine(({ length }) => length % 4 === 0, 'must have four numbers for each step'))
        .length(WINDOWS.length),
    }),
  ),
});

/**
 * Reads the metrics of the previous run. Undefined if there are none, or none of the last 24 hours.
 *
 * @param report receives a line about a file that cannot be used. The next write replaces the file.
 */
export const readMetrics = (file: string, now: Millis, report: (line: string) => void): SavedMetrics | undefined => {
  try {
    if (!existsSync(file)) return undefined;
    const json = parseJson(readFileSync(file, 'utf8'));
    if (!json.ok) throw new Error('it is not JSON');
    const found = FILE.safeParse(json.value);
    if (!found.success) throw new Error(firstOf(found.error));
    const { since, savedAt, series } = found.data;
    return savedAt > now - KEPT ? { since, savedAt, series: series as SavedMetrics['series'] } : undefined;
  } catch (cause) {
    report(
      `${file} has no metrics that this release can read (${reasonOf(cause)}). The charts start again, and the file is replaced. Tasks are not affected`,
    );
    return undefined;
  }
};

const firstOf = ({ issues: [issue] }: z.ZodError): string =>
  issue ? `${issue.path.join('.') || 'the file'}: ${issue.message}` : 'it is not valid';

/** The regular writes of a running stack. */
export interface Keeping {
  /** Writes the latest metrics, and ends the writes. Never throws. */
  stop(): Promise<void>;
}

/**
 * Writes changed metrics to the file from now on.
 *
 * @param report receives a line about the first write that fails. Later writes are still tried.
 */
export const keepMetrics = (file: string, metrics: LocalMetrics, report: (line: string) => void): Keeping => {
  let written = metrics.added();
  let isReported = false;
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();

  const write = async (): Promise<void> => {
    const added = metrics.added();
    if (added === written) return;
    try {
      await replace(file, JSON.stringify({ version: VERSION, ...metrics.saved() }));
      written = added;
    } catch (cause) {
      if (!isReported)
        report(
          `${file} cannot be written (${reasonOf(cause)}). The charts start again after a restart. Tasks are not affected`,
        );
      isReported = true;
    }
  };
  const schedule = (pause: Millis): void => {
    if (isStopped) return;
    timer = setTimeout(() => {
      const began = performance.now();
      writing = write().then(() => schedule(Math.max(EVERY, (performance.now() - began) * REST)));
    }, pause).unref();
  };
  schedule(EVERY);
  return {
    stop: async () => {
      isStopped = true;
      clearTimeout(timer);
      await writing;
      await write();
    },
  };
};

/** Replaces a file at once, so that a crash leaves either the old or the new content. */
const replace = async (file: string, text: string): Promise<void> => {
  const next = `${file}.new`;
  try {
    await writeFile(next, text);
    await rename(next, file);
  } catch (cause) {
    await rm(next, { force: true }).catch(() => {});
    throw cause;
  }
};
