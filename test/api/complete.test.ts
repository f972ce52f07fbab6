import { describe, expect, it } from 'vitest';
import { api } from '../../src/api/app.ts';
import { completionMessages } from '../../src/domain/batches/completion-messages.ts';
import { parseBatch, printBatch } from '../../src/domain/batches/messages.ts';
import { SQS_MAX_BYTES } from '../../src/domain/messages.ts';
import { aConfig, aDownstream, aStart, batchId, candidate, NOW, target } from '../factories/factories.ts';
import { memoryStores } from '../ports/stores.ts';
import { stepKit } from '../steps/step-kit.ts';

const B = batchId('ship/depot=MUC#1#1');

describe('POST /v1/batches/ID/complete', () => {
  const started = async (config = aConfig()) => {
    const kit = stepKit(await memoryStores(), config);
    const forming = {
      id: B,
      target: target('ship/depot=MUC'),
      sealedBy: 'full',
      candidates: ['a', 'b'].map((name) => candidate(name)),
      oldestAt: NOW,
      createdAt: NOW,
    } as const;
    await kit.batches.seal(await kit.batches.form(forming), [], NOW, 1_000);
    await kit.batches.start(B, aStart(1, NOW, NOW + 1_000));
    const app = api({ ...kit, newId: () => 'new', onError: () => {} });
    const post = async (body: string, id: string = B) => {
      const path = `/v1/batches/${encodeURIComponent(id)}/complete`;
      const response = await app.request(path, { method: 'POST', body });
      return { status: response.status, ...((await response.json()) as object) };
    };
    return { kit, app, post };
  };

  it('sends the results of a job to the batch queue, byte by byte', async () => {
    const { kit, post } = await started();
    const results = '[{"id":"a","status":"succeeded","result": 1.0},{"id":"b","status":"retry"}]';
    expect(await post(`{"results": ${results}}`)).toEqual({ status: 202, id: B });
    expect(await post('{}')).toEqual({ status: 202, id: B });
    expect(kit.sent.batch).toEqual([
      { kind: 'completion', batchId: B, results: results.replace('},{', '},{'), delay: 0 },
      { kind: 'completion', batchId: B, results: null, delay: 0 },
    ]);
  });

  it('answers 400 to invalid results, and sends nothing', async () => {
    const { kit, post } = await started();
    const odd = [7, { id: 'c', status: 'succeeded' }, { id: 'a', status: 'done' }];
    expect(await post(JSON.stringify({ results: odd, result: 1 }))).toMatchObject({
      status: 400,
      errors: [{ path: 'result' }, { path: 'results[0]' }, { path: 'results[1].id' }, { path: 'results[2].status' }],
    });
    expect(await post('{"results":{}}')).toMatchObject({ status: 400, errors: [{ path: 'results' }] });
    const large = JSON.stringify({ results: [{ id: 'a', status: 'succeeded', result: 'x'.repeat(600_000) }] });
    expect(await post(large)).toMatchObject({ status: 400, errors: [{ path: 'results[0].result' }] });
    expect(kit.sent.batch).toEqual([]);
  });

  it('answers 400 to a report without results that are required', async () => {
    const { kit, post } = await started(aConfig({ downstream: aDownstream({ requireResults: true }) }));
    const refused = { status: 400, errors: [{ path: 'results', reason: expect.stringContaining('requireResults') }] };
    for (const body of ['', '{}']) expect(await post(body)).toMatchObject(refused);
    expect(kit.sent.batch).toEqual([]);
    expect(await post('{"results": [{"id": "a", "status": "succeeded"}]}')).toEqual({ status: 202, id: B });
  });

  it('sends the inputs of a merged job in one message', async () => {
    const { kit, post } = await started(aConfig({ merge: { keys: 'inputs[].id' } }));
    const inputs = '[{"key":"x","status":"succeeded","result": 1.0},{"key":7,"status":"retry"}]';
    expect(await post(`{"inputs": ${inputs}}`)).toEqual({ status: 202, id: B });
    expect(kit.sent.batch).toEqual([{ kind: 'completion', batchId: B, results: null, inputs, delay: 0 }]);
  });

  it('answers 400 to invalid inputs, and sends nothing', async () => {
    const { kit, post } = await started(aConfig({ merge: { keys: 'inputs[].id' } }));
    const refused = async (body: object, ...paths: string[]) =>
      expect(await post(JSON.stringify(body))).toMatchObject({ status: 400, errors: paths.map((path) => ({ path })) });
    await refused({ inputs: {} }, 'inputs');
    await refused(
      { inputs: [null, { key: {}, status: 'failed' }, { key: 'x' }] },
      'inputs[0]',
      'inputs[1].key',
      'inputs[2].status',
    );
    await refused({ inputs: [{ key: 'x', status: 'succeeded' }], results: [] }, 'inputs');
    await refused({ inputs: [{ key: 'x', status: 'succeeded', result: 'x'.repeat(1_100_000) }] }, 'inputs');
    expect(kit.sent.batch).toEqual([]);
    const { post: toOther } = await started();
    expect(await toOther('{"inputs":[]}')).toMatchObject({ status: 400, errors: [{ path: 'inputs' }] });
  });

  it('answers 404, 405 and 409', async () => {
    const { kit, app, post } = await started();
    expect(await post('{}', 'ship/depot=none#1#1')).toMatchObject({ status: 404 });
    for (const [method, query] of [
      ['PUT', ''],
      ['GET', ''],
      ['GET', '?reason=0'],
    ] as const) {
      const refused = await app.request(`/v1/batches/${encodeURIComponent(B)}/complete${query}`, { method });
      expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'POST']);
    }
    await kit.batches.finish(B, 1, { status: 'succeeded', counts: { succeeded: 2, failed: 0 }, at: NOW, keep: 1_000 });
    expect(await post('{}')).toMatchObject({ status: 409 });
    expect(kit.sent.batch).toEqual([]);
  });
});

it('results that exceed one message are split into several valid messages', () => {
  const results = Array.from(
    { length: 30 },
    (_, n) => `{"id":"t${n}","status":"succeeded","result":"${'ü'.repeat(50_000)}"}`,
  );
  const messages = completionMessages(B, results);
  const printed = messages.map(printBatch);
  expect(messages.length).toBeGreaterThan(2);
  for (const body of printed) expect(Buffer.byteLength(body)).toBeLessThanOrEqual(SQS_MAX_BYTES);
  const read = printed
    .map((body) => parseBatch(body))
    .flatMap((each) => (each.kind === 'completion' ? JSON.parse(each.results ?? '') : []));
  expect(read.map(({ id }: { id: string }) => id)).toEqual(results.map((_, n) => `t${n}`));
});
