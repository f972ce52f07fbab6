import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { FlowEvent } from '../../src/domain/events/events.ts';
import type { OperationName } from '../../src/domain/ids.ts';
import { localMetrics } from '../../tools/console/server/local-metrics.ts';
import { keepMetrics, readMetrics } from '../../tools/console/server/metrics-file.ts';

const registered: FlowEvent = { event: 'registered', operation: 'ship' as OperationName, tasks: 7, duplicates: 0 };
const HOUR = 3_600_000;

describe('the metrics file', () => {
  let folder: string;
  let file: string;
  let reported: string[];
  const report = (line: string): void => void reported.push(line);
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'groupage-metrics-'));
    file = join(folder, 'metrics.json');
    reported = [];
  });
  afterEach(() => {
    vi.useRealTimers();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Runs a stack that registers tasks. */
  const run = async (): Promise<void> => {
    const metrics = localMetrics(Date.now, readMetrics(file, Date.now(), report));
    const keeping = keepMetrics(file, metrics, report);
    metrics.add(registered);
    await keeping.stop();
  };
  const total = async (now = Date.now()): Promise<number | undefined> => {
    const { totals } = await localMetrics(() => now, readMetrics(file, now, report)).look();
    return totals.operations[0]?.tasksRegistered;
  };

  it('continues the metrics over restarts, and leaves no other file', async () => {
    await run();
    await run();
    expect([await total(), reported, readdirSync(folder)]).toEqual([14, [], ['metrics.json']]);
  });

  it('is not continued after a day, without a report', async () => {
    await run();
    expect(await total(Date.now() + 23 * HOUR)).toBe(7);
    expect([await total(Date.now() + 25 * HOUR), reported]).toEqual([undefined, []]);
  });

  it.each([
    ['damaged', '{"version":1,"since":'],
    ['empty', ''],
    ['of another program', '{"hello":"world"}'],
    ['of a later release', '{"version":2,"since":0,"savedAt":0,"series":[]}'],
    [
      'with an unknown metric',
      `{"version":1,"since":0,"savedAt":${Date.now()},"series":[{"metric":"X","of":{},"sum":1,"steps":[[],[],[],[]]}]}`,
    ],
    [
      'with half a step',
      `{"version":1,"since":0,"savedAt":${Date.now()},"series":[{"metric":"Wait","of":{},"sum":1,"steps":[[1],[],[],[]]}]}`,
    ],
  ])('is reported in one line and replaced if it is %s', async (_, text) => {
    writeFileSync(file, text);
    await run();
    expect(reported).toEqual([expect.stringMatching(/^\S*metrics\.json has no metrics .*The charts start again.*$/)]);
    expect([await total(), reported.length]).toEqual([7, 1]);
  });

  it('is reported once if it cannot be written, and nothing fails', async () => {
    mkdirSync(join(file, 'x'), { recursive: true });
    const metrics = localMetrics();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const keeping = keepMetrics(file, metrics, report);
    for (let n = 0; n < 3; n += 1) {
      metrics.add(registered);
      await vi.advanceTimersByTimeAsync(60_000);
    }
    vi.useRealTimers();
    await keeping.stop();
    expect(reported).toEqual([expect.stringContaining('cannot be written')]);
    expect(readdirSync(folder)).toEqual(['metrics.json']);
  });

  it('is written if there is something new, at most every 15 seconds', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const metrics = localMetrics();
    const keeping = keepMetrics(file, metrics, report);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(existsSync(file)).toBe(false);
    metrics.add(registered);
    await vi.advanceTimersByTimeAsync(14_000);
    expect(existsSync(file)).toBe(false);
    await vi.advanceTimersByTimeAsync(1_000);
    await vi.waitFor(() => expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ version: 1 }), 60_000);
    rmSync(file);
    await vi.advanceTimersByTimeAsync(60_000);
    await keeping.stop();
    expect(existsSync(file)).toBe(false);
  });
});
