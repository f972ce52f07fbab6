import { describe, expect, it } from 'vitest';
import type { CallApi } from '../../tools/console/server/call.ts';
import { finding } from '../../tools/console/server/find.ts';
import { startRounds } from '../../tools/console/server/rounds.ts';
import { matching, type Named } from '../../tools/console/server/search.ts';
import { searchNames } from '../../tools/console/server/search-names.ts';
import type { Found, Hit } from '../../tools/console/server/shapes.ts';

const MINUTE = 60_000;

describe('a search', () => {
  const target = (id: string): Named => ({ kind: 'target', id });
  const ids = (names: readonly Named[], query: string) => matching(names, query).map(({ id }) => id);

  it('finds any part in any case, the best match first', () => {
    const names = ['catalog-muc', 'smuct', 'MUC', 'muc-2'].map((id): Named => ({ kind: 'fan-out', id }));
    expect(ids(names, 'muc')).toEqual(['MUC', 'muc-2', 'catalog-muc', 'smuct']);
    expect(matching(names, 'muc').map(({ isExact }) => isExact)).toEqual([true, undefined, undefined, undefined]);
  });

  it('finds a Target by the values as in the payload, and not by those of another', () => {
    const names = [target('ship/depot=M%C3%BCnchen'), target('ship/depot=HAM')];
    expect(ids(names, 'münchen')).toEqual(['ship/depot=M%C3%BCnchen']);
    expect(ids(names, 'm%c3%bc')).toEqual(['ship/depot=M%C3%BCnchen']);
    expect(ids([target('ship/depot=50%')], '50%')).toEqual(['ship/depot=50%']);
  });

  it('finds a list by its name, which is not its exact id', () => {
    expect(matching([{ kind: 'list', id: 'l-1', about: 'Night run' }], 'night run')).toEqual([
      { kind: 'list', id: 'l-1', about: 'Night run' },
    ]);
  });
});

describe('the search of the console', () => {
  /** An API whose operations have some Targets each. Each Target costs some read units. */
  const start = (targets: Readonly<Record<string, number>>, units: number, { hourly = 36_000 } = {}) => {
    const asked: string[] = [];
    const clock = { now: 0 };
    const call: CallApi = async ({ url }) => {
      const { pathname, searchParams } = new URL(url);
      asked.push(pathname + new URL(url).search);
      const answer = (body: object, cost = 1, status = 200) =>
        Response.json(body, { status, headers: { 'groupage-read-units': String(cost) } });
      if (pathname === '/v1/fleets') return answer({ fleets: ['flights'] });
      if (pathname === '/v1/fan-outs')
        return answer({ fanOuts: [{ id: 'catalog', userKey: 'Shop 7' }], cursor: 'more' });
      if (pathname === '/v1/lists') return answer({ detail: 'missing right' }, 0, 403);
      if (pathname === '/v1/tasks/task-1') return answer({});
      if (pathname !== '/v1/targets') return answer({}, 1, 404);
      const operation = searchParams.get('operation') ?? '';
      const all = Array.from({ length: targets[operation] ?? 0 }, (_, n) => `depot=${String(n).padStart(4, '0')}`);
      const from = Number(searchParams.get('cursor') ?? 0);
      const until = from + Number(searchParams.get('limit'));
      const found = all.filter((name) => name.startsWith(searchParams.get('prefix') ?? '')).slice(from, until);
      const body = { targets: found.map((name) => ({ target: `${operation}/${name}` })) };
      return answer(all.length > until ? { ...body, cursor: String(until) } : body, found.length * units);
    };
    const limits = { least: 1_000, readUnitsPerHourMax: hourly };
    const rounds = startRounds(call, limits, () => clock.now);
    const find = finding(
      searchNames(
        rounds,
        async () => Object.keys(targets),
        limits,
        () => clock.now,
      ),
    );
    return { find, asked, clock, rounds };
  };
  const idsOf = ({ groups }: Found, of: Hit['kind']) =>
    groups.filter(({ kind }) => kind === of).flatMap(({ hits }) => hits.map(({ id }) => id));
  const searchedOf = ({ searched }: Found, operation: string) =>
    searched.filter((each) => each.operation === operation).map(({ names, isAll }) => [names, isAll]);

  it('reads the names once, and makes no call for a letter more', async () => {
    const { find, asked, clock } = start({ ship: 150, sell: 3 }, 0);
    expect(idsOf(await find('o', false), 'fan-out')).toEqual(['catalog']);
    const calls = asked.length;
    expect(calls).toBe(6);
    for (const text of ['s', 'sh', 'shop', 'ship/depot=0149']) await find(text, false);
    expect(asked).toHaveLength(calls);
    clock.now += 2 * MINUTE;
    const found = await find('0149', false);
    expect([idsOf(found, 'target'), asked.length]).toEqual([['ship/depot=0149'], 2 * calls]);
  });

  it('limits the hits of each kind, and counts all', async () => {
    const { find } = start({ ship: 70 }, 0);
    const sizes = async (isFull: boolean) =>
      (await find('depot', isFull)).groups.map(({ kind, hits, total }) => [kind, hits.length, total]);
    expect([await sizes(false), await sizes(true)]).toEqual([[['target', 5, 70]], [['target', 50, 70]]]);
  });

  it('says which names were not searched', async () => {
    const { find } = start({ ship: 900, sell: 3 }, 0);
    const found = await find('x', false);
    expect([searchedOf(found, 'ship'), searchedOf(found, 'sell')]).toEqual([[[500, false]], [[3, true]]]);
    const others = found.searched
      .filter(({ kind }) => kind !== 'target')
      .map(({ kind, names, isAll }) => [kind, names, isAll]);
    expect(others).toEqual([
      ['operation', 2, true],
      ['fleet', 1, true],
      ['fan-out', 1, false],
      ['list', 0, false],
    ]);
  });

  it('finds other Targets by their beginning, and a task by its id', async () => {
    const { find, asked } = start({ ship: 900 }, 0);
    expect(idsOf(await find('depot=0899', false), 'target')).toEqual([]);
    expect(idsOf(await find('depot=0899', true), 'target')).toEqual(['ship/depot=0899']);
    expect(idsOf(await find('ship/depot=089', true), 'target')).toHaveLength(10);
    expect(asked.at(-1)).toBe('/v1/targets?operation=ship&limit=20&prefix=depot%3D089');
    expect(await find('task-1', true)).toMatchObject({
      groups: [{ kind: 'task', hits: [{ id: 'task-1', isExact: true }], total: 1 }],
    });
    expect((await find('task-2', true)).groups).toEqual([]);
  });

  it('reads a share of the budget, and later a part of its income', async () => {
    const { find, clock, rounds } = start({ ship: 900, sell: 900 }, 4);
    const full = rounds.balance();
    const found = await find('x', false);
    const spent = full - rounds.balance();
    expect(spent).toBeGreaterThan(1_000);
    expect(spent).toBeLessThanOrEqual(1_000 + 400);
    expect([searchedOf(found, 'ship'), searchedOf(found, 'sell')]).toEqual([[[200, false]], [[100, false]]]);
    let before = rounds.balance();
    let read = 0;
    for (; clock.now < 60 * MINUTE; clock.now += MINUTE) {
      await find('x', false);
      read += Math.max(0, before - rounds.balance());
      before = rounds.balance();
    }
    expect(read).toBeLessThanOrEqual(36_000 / 4);
  });

  it('reads nothing if the budget is used up, and says so', async () => {
    const { find, asked } = start({ ship: 900 }, 100, { hourly: 1_200 });
    await find('x', false);
    const calls = asked.length;
    const found = await find('depot=0899', true);
    expect([asked.length, found.trouble]).toEqual([calls, expect.stringContaining('budget of read units is used up')]);
  });
});
