import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type Age, ageOf, isNewer } from '../../src/domain/tasks/age.ts';
import { aTask, id, NOW } from '../factories/factories.ts';

const age = (sentAt: number, version?: number, name = 'task'): Age => ({
  id: id(name),
  sentAt,
  ...(version === undefined ? {} : { version }),
});

it.each<[string, Age, Age]>([
  ['a task that was sent later', age(2), age(1)],
  ['the task with the higher version, whenever it was sent', age(1, 2), age(9, 1)],
  ['a task with a version, compared with one without', age(1, 0), age(9)],
  ['the task whose id sorts last, of two that were sent in the same millisecond', age(1, 3, 'b'), age(1, 3, 'a')],
])('the newer task is %s', (_, newer, older) => {
  expect([isNewer(newer, older), isNewer(older, newer)]).toEqual([true, false]);
});

it('a task without a sent time has the age of its registration, also after a redrive', () => {
  const { sentAt: _, ...registered } = aTask({ createdAt: NOW });
  expect(ageOf(registered)).toEqual({ id: registered.id, sentAt: NOW });
  expect(ageOf({ ...registered, sentAt: NOW - 5, version: 3 })).toEqual({
    id: registered.id,
    sentAt: NOW - 5,
    version: 3,
  });
});

const anyAge = fc.record({
  id: fc.constantFrom(id('a'), id('b'), id('c')),
  sentAt: fc.integer({ min: 1, max: 3 }),
  version: fc.option(fc.integer({ min: 0, max: 2 }), { nil: undefined }),
});
const asAge = ({ version, ...rest }: { id: Age['id']; sentAt: number; version: number | undefined }): Age => ({
  ...rest,
  ...(version === undefined ? {} : { version }),
});

it('the newest task is the same in whatever order tasks are compared', () =>
  fc.assert(
    fc.property(fc.array(anyAge, { minLength: 1 }), fc.infiniteStream(fc.integer()), (some, chance) => {
      const all = some.map(asAge);
      const newestOf = (ages: readonly Age[]): Age => ages.reduce((best, each) => (isNewer(each, best) ? each : best));
      const shuffled = all.map((each) => [chance.next().value as number, each] as const).toSorted(([a], [b]) => a - b);
      expect(newestOf(shuffled.map(([, each]) => each))).toEqual(newestOf(all));
    }),
  ));
