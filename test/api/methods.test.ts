/** What a path says that it takes is what it takes. */
import { expect, it } from 'vitest';
import { api } from '../../src/api/app.ts';
import { memoryStores } from '../ports/stores.ts';
import { stepKit } from '../steps/step-kit.ts';

const METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'HEAD'];

const app = api({ ...stepKit(memoryStores()), newId: () => 'new', onError: () => {} });
const paths = [...new Set(app.routes.map(({ path }) => path))]
  .filter((path) => !path.includes('*'))
  .map((path) => path.replaceAll(/:\w+(?:\{\.\+\})?/g, 'known'));

it('every path, asked with every method, names those that it takes to all others', async () => {
  expect(paths.length).toBeGreaterThan(35);
  for (const path of paths) {
    const answers = await Promise.all(
      METHODS.map(async (method) => ({ method, answer: await app.request(path, { method }) })),
    );
    const taken = answers.flatMap(({ method, answer }) => (answer.status === 405 ? [] : [method]));
    // A HEAD is answered where a GET is: Allow leaves it out.
    expect([path, taken.includes('HEAD')]).toEqual([path, taken.includes('GET')]);
    for (const { method, answer } of answers.filter((each) => each.answer.status === 405))
      expect([path, method, answer.headers.get('allow')?.split(', ')]).toEqual([
        path,
        method,
        taken.filter((each) => each !== 'HEAD'),
      ]);
  }
});

it('a path that can be that of something by its id takes what that takes', async () => {
  const allowed = async (path: string) => (await app.request(path, { method: 'PATCH' })).headers.get('allow');
  // `redrive` can be the id of a task, and `acks` that of a fan-out; the id of a batch has slashes.
  expect(await allowed('/v1/tasks/redrive')).toBe('GET, POST, DELETE');
  expect(await allowed('/v1/fan-outs/acks')).toBe('GET, POST, DELETE');
  expect(await allowed('/v1/batches/known/complete')).toBe('GET, POST');
  expect(await allowed('/v1/targets/flush')).toBe('POST');
  expect(await allowed('/v1/doctor/targets')).toBe('GET, POST');
  expect(await allowed('/v1/doctor')).toBeNull();
});
