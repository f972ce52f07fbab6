import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../lib/temporary-folder.ts';
import { askedOf, type SimulateOptions } from '../../tools/cli/commands/simulate/options.ts';
import { WrongUsage } from '../../tools/failure.ts';
import { operationAt } from '../end-to-end/operations.ts';
import { groupage } from './groupage.ts';

const ship = {
  ...operationAt('http://127.0.0.1:1/batch', { batch: { maxSize: 10, maxWait: '1s' } }),
  target: ['depot'],
};
const linesOf = (count: number): string =>
  Array.from({ length: count }, (_, n) => `{"time":${n / 20},"payload":{"depot":"D","n":${n}}}`).join('\n');
const LOAD = ['--load', 'rate=20/s targets=2 duration=5s'];

describe('groupage simulate', () => {
  let folder: string;
  beforeAll(() => {
    folder = temporaryFolder('simulate');
    writeFileSync(join(folder, 'groupage.config.json'), JSON.stringify({ operations: { ship } }));
    writeFileSync(join(folder, 'two.json'), JSON.stringify({ operations: { ship, other: ship } }));
    const limited = { operations: { ship: { ...ship, limits: ['vendor'] } }, limits: { vendor: { calls: 1 } } };
    writeFileSync(join(folder, 'limited.json'), JSON.stringify(limited));
    writeFileSync(join(folder, 'none.json'), JSON.stringify({ operations: { ship: { target: [] } } }));
    writeFileSync(join(folder, 'bad.csv'), 'time,payload\n1,{}\n0,{}\n');
  });
  const run = (args: readonly string[], input = '') => groupage(folder, ['simulate', ...args], input);

  it('prints the results for a trace, also from stdin', async () => {
    const text = await run(['--trace', '-'], linesOf(100));
    expect(text).toMatchObject({ code: 0, err: '' });
    expect(text.out).toMatch(/ship +100 +0 +10 +10 +100% +full 10/);
    expect(text.out).toMatch(/cost +\$[\d.]+ per million tasks, \$[\d.]+ per day/);
    const json = await run(['--trace', '-', '--json', '--local'], linesOf(100));
    expect(JSON.parse(json.out)).toMatchObject({
      outcome: { operations: [{ operation: 'ship', tasks: 100, succeeded: 100, calls: 10 }] },
      cost: { perMillion: expect.any(Number) },
      assumed: { seed: 1, surroundings: { atOnce: 4 }, prices: { region: 'us-east-1' } },
    });
  });

  it('compares policies on the same trace, and draws them', async () => {
    const args = ['--trace', '-', '--vary', 'maxSize=5,10', 'maxWait=0s,1s', '--out'];
    const svg = await run([...args, 'curve.svg'], linesOf(100));
    expect(svg).toMatchObject({ code: 0, err: '' });
    expect(svg.out).toMatch(
      /maxSize=5 maxWait=0ms .*\n.*maxSize=5 maxWait=1s .*\n.*maxSize=10 maxWait=0ms .*\n.*maxSize=10/,
    );
    expect(readFileSync(join(folder, 'curve.svg'), 'utf8')).toContain('as configured');
    expect((await run([...LOAD, '--out', 'report.html'])).code).toBe(0);
    expect(readFileSync(join(folder, 'report.html'), 'utf8')).toMatch(/<svg[\s\S]*sealed by/i);
  });

  it('names the limit that holds calls back, also if no policy meets the aims', async () => {
    const limited = ['--config', 'limited.json', '--load', 'rate=50/s targets=5 duration=5s'];
    const found = await run([...limited, '--recommend', '--aim', 'max wait < 2s']);
    expect(found).toMatchObject({ code: 1, err: '' });
    expect(found.out).toMatch(/LIMIT +CALLS +DELAYED/);
    expect(found.out).toMatch(/The limit vendor delayed \d+ of \d+ calls\. Waiting tasks fill/);
    expect(found.out).toContain('No policy changes how many calls it allows.');
    expect((await run([...LOAD, '--config', 'groupage.config.json'])).out).not.toContain('LIMIT');
  });

  it('fails if no policy meets the aims', async () => {
    const found = await run([...LOAD, '--recommend', '--aim', 'max wait < 0s', 'cost < $0.01/million']);
    expect(found).toMatchObject({ code: 1, err: '' });
    expect(found.out).toContain('No policy meets all aims');
    expect(found.out).toContain('No policy meets "max wait < 0s", or "cost < $0.01/million"');
  });

  it.each([
    [['--trace', 'bad.csv'], 'bad.csv:3: time is 1000 ms before'],
    [['--trace', 'missing'], 'missing cannot be read'],
    [['--config', 'none.json', ...LOAD], 'operations.ship.downstream'],
    [[...LOAD, '--vary', 'minSize=5,6'], 'operations.ship.batch.minSize has an effect only with batch.quietPeriod'],
    [[...LOAD, '--out', 'no/such.svg'], 'no/such.svg cannot be written'],
  ])('fails on bad input, with the reason: %j', async (args, reason) => {
    const { code, err } = await run(args);
    expect(err).toContain(reason);
    expect(code).toBe(1);
  });

  it.each([
    [[...LOAD, '--recommend', '--aim', 'speed'], '--aim: "speed" is not a valid aim'],
    [[...LOAD, '--stack', 'any'], "unknown option '--stack'"],
  ])('exits with status 2 for wrong usage: %j', async (args, reason) => {
    const { code, err } = await run(args);
    expect(err).toContain(reason);
    expect(code).toBe(2);
  });

  const load = LOAD[1] as string;
  it.each([
    [{}, 'give the tasks: either --trace FILE or --load TEXT'],
    [{ trace: 'bad.csv', load }, 'give the tasks: either --trace FILE or --load TEXT'],
    [{ load: 'rate=fast' }, '--load: rate takes a rate'],
    [{ load, downstream: 'limit=0/s' }, '--downstream: limit takes'],
    [{ load, vary: ['maxWait=9'] }, '--vary: maxWait takes'],
    [{ load, aim: ['p99 wait < 5s'] }, '--recommend needs --aim'],
    [{ load, seed: 'x' }, '--seed takes'],
    [{ load, out: 'picture.png' }, '--out takes'],
    [{ load, config: 'two.json' }, 'With --operation, name the operation that receives the load'],
    [{ load, operation: 'none' }, '--operation names an operation that is not configured. Configured: ship'],
  ])('refuses impossible requests: %j', async (options: SimulateOptions, reason) => {
    const config = join(folder, options.config ?? 'groupage.config.json');
    const asked = askedOf({ ...options, config });
    await expect(asked).rejects.toThrow(reason);
    await expect(asked).rejects.toBeInstanceOf(WrongUsage);
  });
});
