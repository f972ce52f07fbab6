/**
 * The Lambda kind against a real server that speaks Lambda's protocol. Real functions are tested in test/deployment.
 */
import type { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { LambdaTarget } from '../../src/domain/config/endpoints.ts';
import { type Answer, idempotencyKey, traceparentOf } from '../../src/domain/downstream/downstream.ts';
import { lambdaClient, lambdaDownstream } from '../../src/downstreams/lambda.ts';
import { type AwsReply, type AwsService, awsError, startAwsService } from '../factories/aws-service.ts';
import { aCall, id } from '../factories/factories.ts';

/** A timeout that a busy machine does not reach. */
const TARGET: LambdaTarget = {
  kind: 'lambda',
  function: 'parcels',
  timeout: 200_000,
  deadline: 60_000,
  requireResults: null,
};
const ITEMS = [
  { id: id('a'), payload: '{"n": 1.0}' },
  { id: id('b'), payload: '{}' },
];

let service: AwsService;
beforeEach(async () => {
  service = await startAwsService();
});
afterEach(() => service.stop());

const call = aCall({ items: ITEMS, attempt: 3 });
const answerTo = (reply: AwsReply | undefined, target = TARGET): Promise<Answer> => {
  service.behave(() => reply);
  return lambdaDownstream(target, lambdaClient(service.options)).call(call);
};

describe('a Lambda downstream', () => {
  it('is invoked once with the fields of an HTTP call, and its key', async () => {
    await answerTo({ body: 'null' });
    const [request, ...others] = service.requests;
    expect(others).toEqual([]);
    expect(request?.path).toBe('/2015-03-31/functions/parcels/invocations');
    expect(request?.body).toContain('{"n": 1.0}');
    expect(JSON.parse(request?.body ?? '')).toEqual({
      idempotencyKey: idempotencyKey(call),
      traceparent: traceparentOf(call),
      batchId: call.batchId,
      operation: 'ship',
      target: call.target,
      attempt: 3,
      items: [
        { id: 'a', payload: { n: 1 } },
        { id: 'b', payload: {} },
      ],
    });
  });

  it('is not called over a kept connection, which may be dead', async () => {
    const used = new WeakSet<object>();
    service.behave((_, response) => {
      const socket = response.socket as Socket;
      if (used.has(socket)) return void socket.resetAndDestroy();
      used.add(socket);
      return { body: 'null' };
    });
    const { call: send } = lambdaDownstream(TARGET, lambdaClient(service.options));
    for (const _ of [1, 2, 3]) expect(await send(call)).toEqual({ kind: 'all-succeeded', withoutResults: true });
    expect(service.requests).toHaveLength(3);
  });

  it('is not called again after its connection broke', async () => {
    service.behave((_, response) => void response.socket?.resetAndDestroy());
    expect(await lambdaDownstream(TARGET, lambdaClient(service.options)).call(call)).toMatchObject({
      kind: 'unavailable',
    });
    expect(service.requests).toHaveLength(1);
  });

  it.each(['null', '', ' null ', '{}', '{"took": 3}'])('that answers %j has done all items', async (body) =>
    expect(await answerTo({ body })).toEqual({ kind: 'all-succeeded', withoutResults: true }),
  );

  it('may answer item by item, like an HTTP downstream', async () => {
    const answer = await answerTo({
      body: '{"results": [{"id": "a", "status": "succeeded", "result": 1.0}, {"id": "x", "status": "failed"}]}',
    });
    expect(answer).toEqual({
      kind: 'results',
      items: new Map([['a', { status: 'succeeded', result: '1.0' }]]),
      foreign: 1,
      foreignIds: ['x'],
    });
  });

  it('that answers for an API Gateway or a queue reports a failure', async () => {
    for (const body of ['{"statusCode": 500, "body": "busy"}', '{"batchItemFailures": [{"itemIdentifier": "a"}]}'])
      expect(await answerTo({ body })).toMatchObject({ kind: 'unavailable', mayRetryAtOnce: false });
  });

  it('that returns nothing is refused if results are required', async () => {
    const target = { ...TARGET, requireResults: true };
    expect(await answerTo({ body: 'null' }, target)).toMatchObject({ kind: 'unavailable', mayRetryAtOnce: false });
    expect(await answerTo({ body: '{"pending": true}' }, target)).toEqual({ kind: 'pending' });
  });

  it('may report later', async () =>
    expect(await answerTo({ body: '{"pending": true}' })).toEqual({ kind: 'pending' }));

  it.each(['"done"', '[]', '{"results": 1}'])('that answers %s has not reported on its items', async (body) =>
    expect(await answerTo({ body })).toMatchObject({ kind: 'unavailable', mayRetryAtOnce: true }),
  );

  it('that fails is invoked again; its error is quoted apart from the reason', async () => {
    const failed = (body: unknown) => answerTo({ headers: { 'x-amz-function-error': 'Unhandled' }, body });
    expect(await failed({ errorType: 'TypeError', errorMessage: 'hunter2', trace: [] })).toEqual({
      kind: 'unavailable',
      reason: 'the function failed (Unhandled)',
      quote: 'TypeError: hunter2',
      mayRetryAtOnce: true,
    });
    expect(await failed('null')).toEqual({
      kind: 'unavailable',
      reason: 'the function failed (Unhandled)',
      mayRetryAtOnce: true,
    });
  });

  it("whose answer exceeds Lambda's limit has its batch halved", async () => {
    const errorMessage = 'Response payload size exceeded maximum allowed payload size (6291556 bytes).';
    const body = { errorType: 'Function.ResponseSizeTooLarge', errorMessage };
    expect(await answerTo({ headers: { 'x-amz-function-error': 'Unhandled' }, body })).toEqual({
      kind: 'refused',
      suspect: 'its-answer',
      reason: "the function's answer is larger than Lambda allows",
      quote: `Function.ResponseSizeTooLarge: ${errorMessage}`,
    });
  });

  it.each<[string, AwsReply, object]>([
    [
      'is throttled is not retried at once',
      awsError(429, 'TooManyRequestsException', 'Rate exceeded'),
      {
        kind: 'unavailable',
        reason: 'the function parcels is throttled (TooManyRequestsException)',
        quote: 'Rate exceeded',
        mayRetryAtOnce: false,
      },
    ],
    [
      'is throttled with Retry-After waits for that time',
      {
        ...awsError(429, 'TooManyRequestsException'),
        headers: { 'x-amzn-errortype': 'TooManyRequestsException', 'retry-after': '7' },
      },
      { kind: 'unavailable', mayRetryAtOnce: false, throttled: true, retryAfter: 7_000 },
    ],
    [
      'refuses the size of its input refuses it for good',
      awsError(413, 'RequestTooLargeException'),
      {
        kind: 'refused',
        suspect: 'its-size',
        reason: 'the function parcels refuses the call (RequestTooLargeException)',
      },
    ],
    [
      'has an error of Lambda is invoked again',
      awsError(500, 'ServiceException'),
      { kind: 'unavailable', mayRetryAtOnce: true },
    ],
    [
      'is refused for an unknown reason is not retried at once',
      awsError(400, 'SomethingNewException'),
      { kind: 'unavailable', mayRetryAtOnce: false },
    ],
  ])('that %s', async (_, reply, expected) => {
    expect(await answerTo(reply)).toMatchObject(expected);
    expect(service.requests).toHaveLength(1);
  });

  it.each([
    ['ResourceNotFoundException', 404],
    ['AccessDeniedException', 403],
    ['KMSAccessDeniedException', 502],
  ])('that cannot be invoked (%s) is a wrong configuration', async (name, status) =>
    expect(await answerTo(awsError(status, name))).toMatchObject({
      kind: 'unavailable',
      reason: `the function parcels could not be called (${name}): check the operation's downstream and the function's permissions`,
      mayRetryAtOnce: false,
      misconfigured: true,
    }),
  );

  it('is cut off at its timeout', async () => {
    expect(await answerTo(undefined, { ...TARGET, timeout: 1_000 })).toEqual({
      kind: 'unavailable',
      reason: 'no answer from the function parcels within 1000 ms',
      mayRetryAtOnce: true,
    });
  });

  it('that cannot be reached is invoked again', async () => {
    const client = lambdaClient({ ...service.options, endpoint: 'http://127.0.0.1:9' });
    expect(await lambdaDownstream(TARGET, client).call(call)).toMatchObject({
      kind: 'unavailable',
      reason: expect.stringMatching(/^the function parcels could not be reached/),
      mayRetryAtOnce: true,
    });
  });
});
