import { expect, it } from 'vitest';
import { api } from '../../src/api/app.ts';
import { aConfig } from '../factories/factories.ts';
import { memoryStores } from '../ports/stores.ts';
import { stepKit } from '../steps/step-kit.ts';
import { deadLetter, refused } from '../steps/step-suite.ts';

const ask = async (kit: ReturnType<typeof stepKit>) => {
  const response = await api({ ...kit, newId: () => 'new', onError: () => {} }).request('/v1/queues');
  expect(response.status).toBe(200);
  return (await response.json()) as { queues: { queue: string }[]; rejected: number };
};

it('the API returns the counts of each queue, and of rejected messages', async () => {
  const kit = stepKit(memoryStores());
  kit.backlog.group = { waiting: 1, inFlight: 2, delayed: 3 };
  kit.letters.batch = [deadLetter('{}', 1), deadLetter('{}', 2)];
  kit.letters.rejected = [refused('{}', 1)];
  const none = { waiting: 0, inFlight: 0, delayed: 0, deadLetters: 0 };
  expect(await ask(kit)).toEqual({
    queues: [
      { queue: 'register', ...none },
      { queue: 'elect', ...none },
      { queue: 'group', waiting: 1, inFlight: 2, delayed: 3, deadLetters: 0 },
      { queue: 'batch', ...none, deadLetters: 2 },
    ],
    rejected: 1,
  });
});

it('the API lists the callback queue too if there are destinations', async () => {
  const config = { ...aConfig(), destinations: { ops: { kind: 'queue', name: 'ops' } } } as ReturnType<typeof aConfig>;
  const kit = stepKit(memoryStores(), config);
  kit.backlog.callback = { waiting: 7, inFlight: 0, delayed: 0 };
  const { queues } = await ask(kit);
  expect(queues.at(-1)).toEqual({ queue: 'callback', waiting: 7, inFlight: 0, delayed: 0, deadLetters: 0 });
});
