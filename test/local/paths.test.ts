import { afterAll, beforeAll, expect, it } from 'vitest';
import { type LocalFlow, startLocalFlow } from './flow.ts';

let flow: LocalFlow;
beforeAll(async () => {
  flow = await startLocalFlow();
});
afterAll(() => flow?.stop());

/** The event that a function URL makes of a request: the path stays as sent. An emulator may have decoded it. */
const event = (rawPath: string) => ({
  version: '2.0',
  rawPath,
  rawQueryString: '',
  headers: { host: 'id.lambda-url.eu-central-1.on.aws' },
  requestContext: { domainName: 'id.lambda-url.eu-central-1.on.aws', http: { method: 'GET', path: rawPath } },
  isBase64Encoded: false,
});
const askUrl = async (rawPath: string): Promise<unknown> => {
  const api = [...flow.stack.functions.values()].find(({ name }) => name.includes('ApiHandler'));
  const answer = (await api?.invoke(event(rawPath))) as { statusCode: number; body: string } | undefined;
  return { statusCode: answer?.statusCode, ...(JSON.parse(answer?.body ?? '{}') as object) };
};

it('the API finds a batch whose id has every character with a meaning in URLs', async () => {
  const depot = 'a/b%2F c#d?e&f~ü+';
  const ids = await flow.send([{ depot }]);
  const [task] = await flow.ended(ids);
  expect(await flow.batch(task?.batchId)).toMatchObject({ id: task?.batchId, members: ids });
  const byTarget = await flow.get(`/batches?${new URLSearchParams({ target: String(task?.target) })}`);
  expect(byTarget.batches).toMatchObject([{ id: task?.batchId, status: 'succeeded', size: 1 }]);
});

it('the API finds a batch by an encoded path and by a decoded one', async () => {
  const [task] = await flow.ended(await flow.send([{ depot: 'MUC' }]));
  const id = String(task?.batchId);
  expect(id).toContain('#');
  expect(await askUrl(`/v1/batches/${encodeURIComponent(id)}`)).toMatchObject({ statusCode: 200, id });
  expect(await askUrl(`/v1/batches/${id}`)).toMatchObject({ statusCode: 200, id });
});
