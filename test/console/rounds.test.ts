import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { CallApi } from '../../tools/console/server/call.ts';
import type { Limits } from '../../tools/console/server/interval.ts';
import { type Rounds, startRounds, type Tell } from '../../tools/console/server/rounds.ts';
import type { LiveEvents } from '../../tools/console/server/shapes.ts';
import { CommandFailure } from '../../tools/failure.ts';
import { eventually } from '../end-to-end/flow.ts';

const LEAST = 20;
const MAX = 36_000;
const LIMITS: Limits = { least: LEAST, readUnitsPerHourMax: MAX };

/** An API that counts its calls. */
const startApi = (answer: (path: string, nth: number) => Response | Promise<Response>) => {
  const asked: string[] = [];
  let atOnce = 0;
  let most = 0;
  const call: CallApi = async ({ url }) => {
    const path = new URL(url).pathname;
    asked.push(path);
    atOnce += 1;
    most = Math.max(most, atOnce);
    try {
      return await answer(path, asked.filter((each) => each === path).length);
    } finally {
      atOnce -= 1;
    }
  };
  return { call, asked, most: () => most };
};

const answering = (body: unknown, units = 1): Response =>
  Response.json(body, { headers: { 'groupage-read-units': String(units) } });

/** A page that records the events it receives. */
const openPage = (rounds: Rounds, ...paths: string[]) => {
  const told: { readonly [Name in keyof LiveEvents]: LiveEvents[Name][] } = {
    answer: [],
    trouble: [],
    metrics: [],
    charts: [],
    usage: [],
    heartbeat: [],
  };
  const tell: Tell = (name, event) => told[name].push(event);
  return { told, close: rounds.open(paths, tell) };
};

describe('rounds', () => {
  it('make no calls before a page is open, nor after the last has closed', async () => {
    const { call, asked } = startApi(() => answering({}));
    const rounds = startRounds(call, LIMITS);
    await setTimeout(5 * LEAST);
    expect(asked).toEqual([]);
    const page = openPage(rounds, '/v1/a');
    await eventually(() => page.told.usage.length > 2);
    page.close();
    const { length } = asked;
    await setTimeout(10 * LEAST);
    expect(asked).toHaveLength(length);
  });

  it('send a page an answer once, and again when it changes', async () => {
    const { call, asked } = startApi((_, nth) => answering({ n: nth < 4 ? 1 : 2 }));
    const page = openPage(startRounds(call, LIMITS), '/v1/a');
    await eventually(() => asked.length > 6);
    page.close();
    expect(page.told.answer).toEqual([
      { path: '/v1/a', status: 200, body: { n: 1 } },
      { path: '/v1/a', status: 200, body: { n: 2 } },
    ]);
  });

  it('make each call once for several pages, and send a new page known answers', async () => {
    const { call, asked } = startApi((path) => answering({ path }));
    const rounds = startRounds(call, { ...LIMITS, least: 60_000 });
    const [one, two] = [openPage(rounds, '/v1/a', '/v1/b'), openPage(rounds, '/v1/b')];
    await eventually(() => one.told.usage.length > 0);
    expect(asked.toSorted()).toEqual(['/v1/a', '/v1/b']);
    expect(two.told.answer).toEqual([{ path: '/v1/b', status: 200, body: { path: '/v1/b' } }]);
    const three = openPage(rounds, '/v1/a');
    expect(three.told.answer).toHaveLength(1);
    for (const { close } of [one, two, three]) close();
    expect(asked).toHaveLength(2);
  });

  it('never overlap, even if one takes long', async () => {
    const { call, asked, most } = startApi(async () => {
      await setTimeout(4 * LEAST);
      return answering({});
    });
    const rounds = startRounds(call, LIMITS);
    const page = openPage(rounds, '/v1/a');
    for (let n = 0; n < 5; n += 1) await rounds.call(new Request('http://x/v1/act', { method: 'POST' }));
    await eventually(() => asked.filter((path) => path === '/v1/a').length > 2);
    page.close();
    // The action, and the one call of the round.
    expect(most()).toBeLessThanOrEqual(2);
  });

  it('start at once after a change by a user', async () => {
    const { call, asked } = startApi(() => answering({}));
    const rounds = startRounds(call, { ...LIMITS, least: 600_000 });
    const page = openPage(rounds, '/v1/a');
    await eventually(() => page.told.usage.length === 1);
    await rounds.call(new Request('http://x/v1/act'));
    await setTimeout(5 * LEAST);
    expect(asked.filter((path) => path === '/v1/a')).toHaveLength(1);
    await rounds.call(new Request('http://x/v1/act', { method: 'POST' }));
    await eventually(() => page.told.usage.length === 2);
    page.close();
  });

  it('report once why a call failed, and then the answer when it succeeds', async () => {
    const { call, asked } = startApi((_, nth) => {
      if (nth < 4) throw new CommandFailure('the credentials have expired');
      return answering({ nth: 'any' });
    });
    const page = openPage(startRounds(call, LIMITS), '/v1/a');
    await eventually(() => asked.length > 5);
    page.close();
    expect(page.told.trouble).toEqual([{ path: '/v1/a', reason: 'the credentials have expired' }]);
    expect(page.told.answer).toEqual([{ path: '/v1/a', status: 200, body: { nth: 'any' } }]);
  });

  it('pass on refusals of the API, and report answers that are not JSON', async () => {
    const { call } = startApi((path) =>
      path === '/v1/a'
        ? Response.json({ detail: 'no such' }, { status: 404 })
        : new Response('<html>', { status: 502 }),
    );
    const page = openPage(startRounds(call, LIMITS), '/v1/a', '/v1/b');
    await eventually(() => page.told.usage.length > 0);
    page.close();
    expect(page.told.answer).toEqual([{ path: '/v1/a', status: 404, body: { detail: 'no such' } }]);
    expect(page.told.trouble).toEqual([{ path: '/v1/b', reason: expect.stringContaining('502') }]);
  });

  it('abort calls in progress when the last page closes', async () => {
    const ended: string[] = [];
    const call: CallApi = ({ url, signal }) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => {
          ended.push(new URL(url).pathname);
          reject(signal.reason);
        });
      });
    const rounds = startRounds(call, LIMITS);
    const page = openPage(rounds, '/v1/a');
    await setTimeout(3 * LEAST);
    page.close();
    expect(ended).toEqual(['/v1/a']);
  });

  it('report their cost and that of other calls, and are rarer the more they cost', async () => {
    const { call } = startApi((path) => answering({}, path === '/v1/dear' ? 100 : 7));
    const rounds = startRounds(call, LIMITS);
    const page = openPage(rounds, '/v1/dear');
    await eventually(() => page.told.usage.length === 1);
    await rounds.call(new Request('http://x/v1/other', { method: 'POST' }));
    await eventually(() => page.told.usage.length === 2);
    page.close();
    const [first, second] = page.told.usage;
    expect([first?.readUnits, second?.readUnits]).toEqual([100, 207]);
    // The cost makes the interval longer than the minimum.
    expect(first?.everySeconds).toBeGreaterThan(5);
    expect(first?.readUnitsPerHour).toBeLessThanOrEqual(MAX);
  });

  it('assume 25 units only for an API that never states a cost', async () => {
    const { call } = startApi((path) => (path === '/v1/said' ? answering({}, 3) : Response.json({})));
    const rounds = startRounds(call, { ...LIMITS, least: 600_000 });
    const page = openPage(rounds, '/v1/a');
    await eventually(() => page.told.usage.length === 1);
    await rounds.call(new Request('http://x/v1/said', { method: 'POST' }));
    await eventually(() => page.told.usage.length === 2);
    page.close();
    expect(page.told.usage.map(({ readUnits }) => readUnits)).toEqual([25, 28]);
  });
});
