/** Real processes that are killed, stopped and blocked: a small version of `npm run bench:fleet-processes`. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Crew } from '../../bench/fleet-processes/crew.ts';
import { type Logged, readEntries } from '../../bench/fleet-processes/log.ts';
import { tell } from '../../bench/fleet-processes/story.ts';
import { verdictOf } from '../../bench/fleet-processes/verdict.ts';
import { temporaryFolder } from '../../lib/temporary-folder.ts';
import { type DynamoDBEngine, startDynamoDB } from '../../tools/local/dynamodb-engine.ts';
import { makeFleetTable } from '../../tools/local/resources.ts';

describe('four processes', () => {
  let engine: DynamoDBEngine;
  let crew: Crew | undefined;
  beforeAll(async () => {
    engine = await startDynamoDB({ port: 0 });
  });
  afterAll(async () => {
    await crew?.end();
    await engine?.stop();
  });

  it('work on each partition one at a time despite a busy loop, kills and stops', async () => {
    const cycle = 600;
    const table = await makeFleetTable(engine.endpoint, 'Fleet');
    const folder = temporaryFolder('fleet-processes');
    crew = new Crew({ fleet: 'test', table, partitions: 16, cycle, maxBlocked: 10_000, folder });
    const names = ['a busy loop', 'SIGKILL', 'SIGSTOP and SIGCONT'];
    const { chapters, whole } = await tell(crew, 4, { pause: 0, block: 2_000, longBlock: 0 }, { names });
    expect(whole.violations).toEqual([]);
    expect(chapters.map(({ name }) => name)).toEqual(names);
    const [busy, killed, stopped] = chapters.map(({ moves }) => moves);
    expect(busy).toBe(0);
    expect(killed).toBeGreaterThanOrEqual(4);
    expect(stopped).toBeGreaterThanOrEqual(4);
    // The stopped process tried to store a checkpoint when it continued.
    expect(whole.refused).toBeGreaterThan(0);
    // All other processes received SIGTERM, and have given all away.
    const { nodes, leases } = await crew.read();
    expect(nodes.filter(({ evicted }) => !evicted)).toEqual([]);
    expect(leases.filter(({ owner }) => owner !== undefined)).toEqual([]);
    const accepted = readEntries(folder).filter((entry) => entry.is === 'checkpoint' && entry.outcome === 'accepted');
    for (const { partition } of leases) {
      const checkpoint = await crew.checkpointOf(partition);
      const last = accepted.findLast((entry) => 'p' in entry && entry.p === partition);
      expect(last).toMatchObject({ value: Number(checkpoint) });
    }
  });
});

describe('a log of workers', () => {
  const unit = (who: string, fence: number, begin: number, end?: number): Logged[] => [
    { is: 'begin', who, p: 'p', fence, at: begin },
    ...(end === undefined ? [] : [{ is: 'end', who, p: 'p', fence, at: end } as const]),
  ];
  const checkpoint = (who: string, fence: number, at: number, value: number): Logged => ({
    ...{ is: 'checkpoint', who, p: 'p', fence, from: at, at, value, outcome: 'accepted' },
  });
  const call = (who: string, fence: number, at: number, from: number): Logged => ({
    ...{ is: 'call', who, p: 'p', fence, at, from },
  });
  const judge = (...entries: Logged[][]) =>
    verdictOf(
      entries.flat().sort((a, b) => a.at - b.at),
      new Map([['killed', 15]]),
      100,
    );

  it('is correct if one goes on after the other, killed or not', () => {
    const verdict = judge(
      [call('killed', 1, 0, 0), checkpoint('killed', 1, 12, 1), call('b', 2, 20, 1), checkpoint('b', 2, 50, 2)],
      unit('killed', 1, 1, 11),
      unit('killed', 1, 14),
      unit('b', 2, 30, 40),
    );
    expect(verdict).toMatchObject({ violations: [], units: 3, moves: 1, overlaps: 0, longestPause: 16, accepted: 2 });
  });

  it('with an overlap is wrong if the process ran, and not if it stood still', () => {
    expect(judge(unit('a', 1, 0, 50), unit('b', 2, 40, 60)).violations).toEqual([expect.stringMatching(/^4/)]);
    expect(judge(unit('a', 1, 0, 150), unit('b', 2, 40, 60), unit('b', 2, 70, 80))).toMatchObject({
      violations: [],
      overlaps: 1,
      longestOverlap: 20,
    });
  });

  it.for([
    ['1', 'a fence of two processes', [...unit('a', 1, 0, 10), ...unit('b', 1, 20, 30)]],
    ['2', 'a process that works twice at once', [...unit('a', 1, 0), ...unit('a', 1, 20, 30)]],
    ['3', 'a unit under an older fence', [...unit('b', 2, 0, 10), ...unit('a', 1, 20, 30)]],
    ['5', 'a checkpoint of an older fence', [...unit('b', 2, 0, 10), checkpoint('a', 1, 20, 1)]],
    ['6', 'a value that goes back', [...unit('a', 1, 0, 10), checkpoint('a', 1, 20, 2), checkpoint('b', 2, 30, 1)]],
    ['6', 'an owner that begins too early', [...unit('a', 1, 0, 10), checkpoint('a', 1, 20, 2), call('b', 2, 30, 1)]],
  ] as const)('breaks rule %s: %s', ([rule, , entries]) => {
    expect(judge([...entries]).violations).toEqual([expect.stringMatching(new RegExp(`^${rule}`))]);
  });
});
