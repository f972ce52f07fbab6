import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { LeaseCost, LengthReport } from '../../bench/lists/costs.ts';
import { pictureOf } from '../../bench/lists/picture.ts';
import type { StormReport } from '../../bench/lists/storm.ts';
import { WAYS, type WayCost, type WayName } from '../../bench/lists/variants.ts';

const ROOT = join(import.meta.dirname, '../..');
const run = (...args: string[]) =>
  promisify(execFile)(process.execPath, [join(ROOT, 'bench/lists.ts'), ...args], { cwd: ROOT });

interface Figures {
  readonly storm: StormReport;
  readonly poison: { readonly plain: StormReport; readonly poisoned: StormReport; readonly ratio: number };
  readonly length: LengthReport;
  readonly leases: readonly LeaseCost[];
  readonly ways: readonly WayCost[];
}

describe('the benchmark of lists', () => {
  it('finds every job done once under faults, at the promised cost', async () => {
    const { stdout } = await run('--quick');
    const { storm, poison, length, leases, ways } = JSON.parse(stdout) as Figures;
    expect(storm).toMatchObject({ jobs: 1_000, total: 1_000, results: 1_000, failed: 1, eventsOfTheEnd: 1 });
    expect(storm.lostReplies).toBeGreaterThan(0);
    expect(storm.claims).toBeGreaterThanOrEqual(40);
    // One job in a hundred is poison, and one in a thousand fails at once.
    expect(poison.poisoned).toMatchObject({ jobs: 1_000, results: 1_000, failed: 11, holders: 61, hadByTwo: 0 });
    expect(poison.poisoned.mostDeliveries.poison).toBe(5);
    expect(poison.poisoned.releases).toBeGreaterThanOrEqual(5);
    expect(poison.plain).toMatchObject({ failed: 1, releases: 0 });
    expect(poison.ratio).toBeGreaterThan(0);
    for (const cost of length.lists)
      expect(cost).toMatchObject({ writeUnits: 2, readUnits: length.lists[0]?.readUnits });
    const short = leases.filter(({ row }) => row === 'short');
    expect(short.map(({ claim, completion }) => claim + completion).slice(0, 12)).toEqual(Array(12).fill(2));

    const cost = (way: WayName, jobs: number) => ways.find((each) => each.way === way && each.jobs === jobs) as WayCost;
    expect(cost('scan', 1_000).readUnits).toBeGreaterThan(4 * cost('scan', 100).readUnits);
    expect(cost('pop', 1_000).writeUnits).toBeGreaterThan(4 * cost('pop', 100).writeUnits);
    expect(cost('pop', 1_000).readUnits).toBeGreaterThan(2 * cost('pop', 100).readUnits);
    for (const jobs of [100, 1_000])
      expect(cost('tokens', jobs)).toMatchObject({
        writeUnits: 1,
        readUnits: cost('tokens', 100).readUnits,
        refused: 0,
        completion: 1,
      });
  }, 120_000);

  it('reports wrong arguments with status 2', async () => {
    const wrong = { '--parts=none': '--parts accepts', '--jobs=0': '--jobs takes', '--docs --quick': '--docs needs' };
    for (const [args, message] of Object.entries(wrong))
      await expect(run(...args.split(' '))).rejects.toMatchObject({
        code: 2,
        stderr: expect.stringContaining(message),
      });
  }, 300_000);
});

describe('the picture of the cost of lists', () => {
  const cost = (way: WayName, jobs: number, units: number): WayCost => ({
    way,
    jobs,
    claims: 1,
    writeUnits: units,
    readUnits: units,
    ms: units,
    refused: 0,
    completion: 1,
  });

  it('has a line for each way that rises with the cost', () => {
    const picture = pictureOf(WAYS.flatMap((way) => [cost(way, 100, 1), cost(way, 1_000, way === 'tokens' ? 1 : 50)]));
    expect(picture).not.toMatch(/NaN|undefined|Infinity/);
    for (const way of WAYS) {
      const lines = [...picture.matchAll(new RegExp(`d="M(\\S+) (\\S+)L(\\S+) (\\S+)" class="w ${way}"`, 'g'))];
      expect(lines).toHaveLength(3);
      for (const [, x1, y1, x2, y2] of lines) {
        expect(Number(x2)).toBeGreaterThan(Number(x1));
        expect(Number(y1) - Number(y2) > 0).toBe(way !== 'tokens');
      }
    }
  });
});
