import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { burst, type Load, loadsAt } from '../../bench/performance/loads.ts';
import {
  inAll,
  type Known,
  leastCallsOf,
  type Measures,
  measuresOf,
  whereDearer,
} from '../../bench/performance/measures.ts';
import { barsPicture } from '../../bench/performance/pictures/bars.ts';
import { linesPicture } from '../../bench/performance/pictures/lines.ts';
import { sectionOf, variantsList, withParts } from '../../bench/performance/report.ts';
import { type Run, runLoad } from '../../bench/performance/run.ts';
import { startWorld, type World } from '../../bench/performance/site.ts';
import { VARIANTS } from '../../bench/performance/variants.ts';
import { PRICES } from '../../tools/simulate/prices.ts';

const TASKS = 250;
const load = burst({ tasks: TASKS, targets: 4, maxWait: 2_000 });

describe('a small burst by every way', () => {
  let world: World;
  const runs: Run[] = [];
  const by = (name: string): Measures => {
    const run = runs.find(({ variant }) => variant.name === name);
    if (!run) throw new Error(`no variant has the name ${name}`);
    return run.measures;
  };

  beforeAll(async () => {
    world = await startWorld();
    for (const variant of VARIANTS) runs.push(await runLoad(world, load, variant));
  });
  afterAll(() => world.stop());

  it('reaches the downstream completely, without errors', () => {
    for (const { variant, measures, errors } of runs) {
      expect(errors, variant.name).toEqual([]);
      expect(measures, variant.name).toMatchObject({ tasks: TASKS, lost: 0 });
    }
  });

  it('is sent to the downstream once by Groupage', () => expect(by('Groupage').twice).toBe(0));

  it('takes the fewest calls by Groupage', () => {
    expect(by('one call per task').calls).toBe(TASKS);
    // Not `published`: its leaders wait from their election on, on a busy machine longer than they should.
    for (const name of ['one call per task', 'batch window', 'FIFO queue'])
      expect(by('Groupage').calls, name).toBeLessThan(by(name).calls);
  });

  it('takes at least the fewest calls possible for its wait', () => {
    for (const { variant, measures, sent } of runs) {
      // A way that is late may put more tasks into a call.
      const taken = { maxSize: load.maxSize, maxWait: measures.waits.max };
      expect(leastCallsOf(sent, taken), variant.name).toBeLessThanOrEqual(measures.calls);
      expect(leastCallsOf(sent, taken), variant.name).toBeLessThanOrEqual(measures.leastCalls);
    }
  });

  it('is counted in units, requests and invocations', () => {
    for (const name of ['Groupage', 'published']) {
      const { write, read } = by(name).perTask;
      expect(write, name).toBeGreaterThan(2);
      expect(read, name).toBeGreaterThan(0);
    }
    expect(by('published').perTask.write).toBeGreaterThan(by('Groupage').perTask.write);
    for (const { variant, measures } of runs) {
      const { sqsRequests, invocations, lambdaMillis } = measures.perTask;
      for (const count of [sqsRequests, invocations, lambdaMillis, measures.perMillion])
        expect(count, variant.name).toBeGreaterThan(0);
      expect(measures.producerRequests, variant.name).toBe(TASKS / 10);
    }
    for (const name of ['one call per task', 'batch window', 'FIFO queue'])
      expect(by(name).perTask, name).toMatchObject({ write: 0, read: 0 });
  });

  it('appears in the tables and pictures with every way and measure', () => {
    const section = sectionOf({ load, runs });
    for (const { name } of VARIANTS)
      expect(section.match(new RegExp(`^\\| \\**${name}\\** \\|`, 'gm')), name).toHaveLength(2);
    for (const head of ['calls', 'fill', 'write units', 'read units', 'SQS requests', 'invocations', 'function time'])
      expect(section).toContain(`| ${head} |`);
    for (const head of ['price', 'break-even', 'wait p99', 'late p50', 'lost', 'duplicated'])
      expect(section).toContain(`| ${head} |`);
    expect(section).not.toMatch(/NaN|undefined|Infinity/);
    const [bars, lines] = [barsPicture([{ load, runs }]), linesPicture([{ load, runs }])];
    expect(bars.match(/<rect /g)).toHaveLength(1 + VARIANTS.length + 3 * VARIANTS.length);
    expect(lines.match(/class="w"/g)).toHaveLength(VARIANTS.length);
    for (const picture of [bars, lines]) expect(picture).not.toMatch(/NaN|undefined|Infinity/);
  });
});

describe('the measures', () => {
  const aUsage = () => {
    const none = () => new Map<string, number>();
    const [writeUnits, readUnits, sqsRequests, invocations] = [none(), none(), none(), none()];
    return { writeUnits, readUnits, sqsRequests, invocations, millis: none(), emptyReceives: none() };
  };
  const sent = new Map<string, Known>([
    ['a', { target: 'ship/depot=1', at: 0 }],
    ['b', { target: 'ship/depot=1', at: 10 }],
    ['c', { target: 'ship/depot=2', at: 10 }],
    ['d', { target: 'ship/depot=2', at: 200 }],
  ]);
  const limits = { maxSize: 10, maxWait: 100 };
  const call = (at: number, ...ids: string[]) => ({ at, items: ids.map((id) => ({ id })) });

  it('count tasks that were never called, called twice, or late', () => {
    const calls = [call(90, 'a', 'b'), call(160, 'c'), call(170, 'b')];
    const observed = { limits, sent, calls, usage: aUsage(), producerRequests: 1, errors: 0, isFifo: false };
    expect(measuresOf(observed)).toMatchObject({
      lost: 1,
      twice: 1,
      calls: 3,
      leastCalls: 3,
      waits: { p50: 90, max: 150 },
      late: { p50: 0, max: 50 },
    });
  });

  it('give the prices of a call at which a way costs more than Groupage', () => {
    const some = (calls: number, perMillion: number): Measures =>
      ({ tasks: 100, calls, perMillion }) as Partial<Measures> as Measures;
    const ours = some(10, 4);
    const eager = some(100, 0.4);
    const dearer = whereDearer(eager, ours);
    const from = typeof dearer === 'object' && 'from' in dearer ? dearer.from : 0;
    expect(from).toBeCloseTo(4e-6, 12);
    expect(inAll(eager, from)).toBeCloseTo(inAll(ours, from), 9);
    expect(whereDearer(some(10, 8), ours)).toBe('always');
    expect(whereDearer(some(10, 1), ours)).toBe('never');
    expect(whereDearer(some(9, 4.4), ours)).toEqual({ upTo: expect.closeTo(4e-5, 12) });
  });

  it('use the price list, with its higher price for FIFO queues', () => {
    const usage = { ...aUsage(), writeUnits: new Map([['rows', 4]]), sqsRequests: new Map([['queue', 4]]) };
    const observed = { limits, sent, calls: [], usage, producerRequests: 1, errors: 0 };
    const { perMillionRequests, perMillionFifoRequests } = PRICES.sqs;
    const perMillion = (isFifo: boolean): number => measuresOf({ ...observed, isFifo }).perMillion;
    expect(perMillion(false)).toBeCloseTo(PRICES.dynamodb.perMillionWriteUnits + perMillionRequests, 9);
    expect(perMillion(true) - perMillion(false)).toBeCloseTo(perMillionFifoRequests - perMillionRequests, 9);
  });

  it('never let two Targets share a call', () => expect(leastCallsOf(sent, limits)).toBe(3));
});

describe('the loads', () => {
  const arrivalsOf = (loads: readonly Load[]) => loads.map(({ name, arrivals }) => [name, arrivals]);

  it('are the same each time', () => expect(arrivalsOf(loadsAt(0.1))).toEqual(arrivalsOf(loadsAt(0.1))));

  it('arrive in order, and in the number of the scale', () => {
    for (const { name, arrivals } of loadsAt(0.5)) {
      const moments = arrivals.map(({ at }) => at);
      expect(moments, name).toEqual(moments.toSorted((a, b) => a - b));
    }
    const [first] = loadsAt(0.5);
    expect(first?.arrivals).toHaveLength(5_000);
  });

  it("are skewed: a burst's first Target has far more tasks than its last", () => {
    const counts = new Map<string, number>();
    for (const { payload } of burst({ tasks: 10_000, targets: 20, maxWait: 1 }).arrivals) {
      const { depot } = JSON.parse(payload) as { depot: string };
      counts.set(depot, (counts.get(depot) ?? 0) + 1);
    }
    expect(counts.size).toBe(20);
    expect((counts.get('D1') ?? 0) / (counts.get('D20') ?? 1)).toBeGreaterThan(10);
  });
});

describe('the performance page', () => {
  it('gets new parts between its markers, and keeps the rest', () => {
    const page = 'one\n<!-- variants -->\nold\n<!-- /variants -->\ntwo\n';
    expect(withParts(page, { variants: variantsList() })).toBe(
      `one\n<!-- variants -->\n\n${variantsList()}\n\n<!-- /variants -->\ntwo\n`,
    );
  });

  it('describes the ways as the code has them', () => {
    const page = readFileSync(join(import.meta.dirname, '../../docs/evidence/performance.md'), 'utf8');
    expect(withParts(page, { variants: variantsList() })).toBe(page);
  });

  it('is refused if it has no place for a part', () => {
    expect(() => withParts('one', { figures: 'some' })).toThrow('figures');
  });
});

describe('npm run bench', () => {
  const run = (...args: string[]) =>
    promisify(execFile)(process.execPath, [join(import.meta.dirname, '../../bench/performance.ts'), ...args]);

  it.each([
    [['--variants', 'theirs'], '--variants'],
    [['--write', '--loads', 'burst'], '--write'],
  ])('reports wrong arguments with status 2: %j', async (args, told) => {
    await expect(run(...args)).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining(told) });
  });
});
