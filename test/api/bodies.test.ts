import { expect, it } from 'vitest';
import { api } from '../../src/api/app.ts';
import { stepKit } from '../batching/step-kit.ts';
import { memoryStores } from '../contract/stores.ts';

const started = async () => {
  const kit = stepKit(await memoryStores());
  const app = api({ ...kit, newId: () => 'new', onError: () => {} });
  return {
    kit,
    post: async (path: string, body: string | Uint8Array<ArrayBuffer>) => {
      const response = await app.request(`/v1${path}`, { method: 'POST', body });
      const answer = (await response.json()) as Record<string, unknown>;
      return { ...answer, status: response.status } as typeof answer;
    },
  };
};

it('a body that is not UTF-8 is refused, and nothing of it is stored as something else', async () => {
  const { kit, post } = await started();
  const task = '{"operation":"ship","payload":{"depot":"M\xfcC"}}';
  for (const [path, text] of [
    ['/tasks', task],
    ['/tasks', `{"tasks":[${task}]}`],
    ['/tasks/redrive', '{"target":"ship/depot=M\xfcC"}'],
    ['/targets/flush', '{"target":"ship/depot=M\xfcC"}'],
    ['/dead-letters/elect/redrive', '{"cursor":"\xff"}'],
  ] as const)
    expect([path, await post(path, new Uint8Array(Buffer.from(text, 'latin1')))]).toEqual([
      path,
      expect.objectContaining({ status: 400, errors: [{ path: '', reason: 'the body is not UTF-8' }] }),
    ]);
  expect(kit.sent.registered).toEqual([]);
  expect(await post('/tasks', `\ufeff${task}`)).toMatchObject({ status: 202 });
});
