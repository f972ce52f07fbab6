import { ProvisionedThroughputExceededException, ThrottlingException } from '@aws-sdk/client-dynamodb';
import { RequestThrottled, SQSServiceException } from '@aws-sdk/client-sqs';
import { describe, expect, it, vi } from 'vitest';
import { api } from '../../src/api/app.ts';
import { isOutOfCapacity } from '../../src/api/shared/busy.ts';
import { GaveUp } from '../../src/aws/rounds.ts';
import { SqsFailure } from '../../src/aws/sqs.ts';
import { createFanOutClient } from '../../src/client/client.ts';
import { TimeIsUp } from '../../src/ports/machine.ts';
import { memoryStores } from '../ports/stores.ts';
import { stepKit } from '../steps/step-kit.ts';

const metadata = { message: 'Rate exceeded', $metadata: { httpStatusCode: 400 } };
const service = (name: string, $fault: 'client' | 'server', httpStatusCode: number) =>
  new SQSServiceException({ name, $fault, message: name, $metadata: { httpStatusCode } });
const named = (name: string): Error => Object.assign(new Error(name), { name });

const BUSY: readonly Error[] = [
  new ProvisionedThroughputExceededException(metadata),
  new ThrottlingException(metadata),
  new RequestThrottled(metadata),
  service('RequestLimitExceeded', 'client', 400),
  service('OverLimit', 'client', 403),
  service('InternalServerError', 'server', 500),
  service('ServiceUnavailable', 'server', 503),
  new GaveUp(1, 3, new SqsFailure('ServiceUnavailable', 'busy')),
  new TimeIsUp(5_000, 'DynamoDB'),
  named('TimeoutError'),
];
const OTHERS: readonly unknown[] = [
  service('AccessDeniedException', 'client', 400),
  service('ResourceNotFoundException', 'client', 400),
  service('ValidationException', 'client', 400),
  new SqsFailure('InvalidMessageContents', 'no'),
  new TypeError('undefined is not a function'),
  'a text',
];

describe('a request that DynamoDB or SQS throttles', () => {
  const kit = stepKit(memoryStores());
  const logged: unknown[] = [];
  const app = api({ ...kit, newId: () => 'new', onError: (cause) => logged.push(cause) });

  it.each(BUSY.map((cause) => [cause.name, cause] as const))('is answered 503 on %s', async (_, cause) => {
    kit.tasks.get = () => Promise.reject(cause);
    const answer = await app.request('/v1/tasks/t-1');
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await answer.json()).toMatchObject({ title: 'Busy', detail: expect.stringContaining('throttled') });
    expect(logged.at(-1)).toBe(cause);
  });

  it('is answered 503, and other failures 500', async () => {
    expect(OTHERS.filter(isOutOfCapacity)).toEqual([]);
    kit.tasks.get = () => Promise.reject(OTHERS[0]);
    const answer = await app.request('/v1/tasks/t-1');
    expect([answer.status, answer.headers.has('retry-after')]).toEqual([500, false]);
  });

  it('with tasks is answered how to send them again', async () => {
    kit.queues.register = () => Promise.reject(new RequestThrottled(metadata));
    const body = JSON.stringify({ operation: 'ship', id: 'mine', payload: { carrier: 'DHL', depot: 'MUC' } });
    const answer = await app.request('/v1/tasks', { method: 'POST', body });
    expect(answer.status).toBe(503);
    expect(await answer.json()).toMatchObject({ detail: expect.stringContaining('with the same id') });
  });

  it('is repeated by the client after retry-after', async () => {
    let fails = 1;
    const { read } = kit.fanOuts;
    kit.fanOuts.read = (id) => {
      fails -= 1;
      return fails >= 0 ? Promise.reject(new ThrottlingException(metadata)) : read.call(kit.fanOuts, id);
    };
    await app.request('/v1/fan-outs', { method: 'POST', body: '{"id":"f"}' });
    const pauses: unknown[] = [];
    vi.spyOn(Math, 'random').mockReturnValue(0);
    vi.spyOn(globalThis, 'setTimeout').mockImplementation(((done: () => void, pause: number) => {
      pauses.push(pause);
      queueMicrotask(done);
    }) as never);
    const fetchHere = (async (url: string, init: RequestInit) => app.request(url, { ...init, signal: null })) as never;
    const fanOut = createFanOutClient({ api: 'http://127.0.0.1/v1', fetch: fetchHere }).fanOut('f');
    try {
      expect(await fanOut.seal()).toEqual({ complete: true });
    } finally {
      vi.restoreAllMocks();
    }
    expect(pauses).toContain(1_000);
  });
});
