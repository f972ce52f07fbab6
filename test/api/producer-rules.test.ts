/** The rules of producers for tasks that callers send through the API. */
import { expect, it } from 'vitest';
import { api } from '../../src/api/app.ts';
import { DEFAULT_RULES, type RulesMode } from '../../src/domain/producers/rules.ts';
import { aConfig, aTask, batchId, candidate, NOW, operationName } from '../factories/factories.ts';
import { memoryStores } from '../ports/stores.ts';
import { stepKit } from '../steps/step-kit.ts';

const config = aConfig({ producers: { ...DEFAULT_RULES, send: ['shop'] } }, { operation: operationName('open') });

/** The environment of a request that IAM authenticated, as a function URL passes it on. */
const by = (callerId: string) => ({
  event: {
    requestContext: { authorizer: { iam: { callerId, userArn: 'arn:aws:sts::111122223333:assumed-role/shop/s' } } },
  },
});

const started = (mode: RulesMode | undefined) => {
  const kit = stepKit(memoryStores(), config);
  const powers = { producers: { shop: ['AROASHOP'] }, mode: async () => mode };
  const app = api({ ...kit, powers, newId: () => 'new', onError: console.error });
  const send = async (callerId: string, ...tasks: readonly object[]) => {
    const body = JSON.stringify({
      tasks: tasks.map((task) => ({ operation: 'ship', payload: { depot: 'MUC' }, ...task })),
    });
    const response = await app.request('/v1/tasks', { method: 'POST', body }, by(callerId));
    return { code: response.status, ...((await response.json()) as { errors?: object[] }) };
  };
  return { kit, app, send };
};

it('refuses tasks that the register function would refuse, names each, and sends none', async () => {
  const { kit, send } = started('enforce');
  expect(
    await send(
      'AROAOTHER:s',
      { id: 'a' },
      { id: 'b', operation: 'open' },
      { id: 'c', operation: 'open', fanOutItem: 'f:0:0' },
    ),
  ).toMatchObject({
    code: 403,
    detail: 'the rules for producers forbid some of the tasks; none was sent',
    errors: [
      { path: 'tasks[0].operation', reason: expect.stringContaining('ship accepts no tasks of sender AROAOTHER') },
      { path: 'tasks[2].fanOutItem', reason: expect.stringContaining("needs the item's token") },
    ],
  });
  expect(kit.sent.registered).toEqual([]);
});

it('sends the tasks of a named caller, with the caller as their sender', async () => {
  const { kit, send } = started('enforce');
  expect((await send('AROASHOP:session', { id: 'a' })).code).toBe(202);
  expect(kit.sent.senders).toEqual([{ id: 'AROASHOP', via: 'api' }]);
});

it('forbids nothing in a stage that warns, or that has not decided yet', async () => {
  for (const mode of ['warn', undefined] as const) expect((await started(mode).send('AROAOTHER:s', {})).code).toBe(202);
});

it('redrives tasks in the name of the caller', async () => {
  const { kit, app } = started('enforce');
  const task = aTask();
  await kit.tasks.insert([task]);
  const batch = batchId('ship/depot=MUC#1#1');
  await kit.tasks.claim([candidate(task.id)], batch);
  const error = { code: 'bad', message: 'no', retriable: false };
  const end = { id: batch, target: task.target, attempts: 1, at: NOW, keep: 3_600_000 };
  await kit.tasks.finish([{ id: task.id, outcome: { status: 'failed', error } }], end);
  const body = JSON.stringify({ ids: [task.id] });
  await app.request('/v1/tasks/redrive', { method: 'POST', body }, by('AROAOPS:anna'));
  expect(kit.sent.senders).toEqual([{ id: 'AROAOPS', via: 'api' }]);
});
