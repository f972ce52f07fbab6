/** The Lambda kind against a real server that speaks Lambda's protocol; against functions that run, see test/deployment. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { LambdaTarget } from '../../src/domain/config/endpoints.ts';
import { type Answer, idempotencyKey, traceparentOf } from '../../src/domain/downstream/downstream.ts';
import { lambdaClient, lambdaDownstream } from '../../src/downstreams/lambda.ts';
import { type AwsReply, type AwsService, awsError, startAwsService } from '../factories/aws-service.ts';
import { aCall, id } from '../factories/factories.ts';

/** Has time to answer however busy the machine is. */
const TARGET: LambdaTarget = { kind: 'lambda', function: 'parcels', timeout: 200_000, deadline: 60_000 };
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

describe('a function', () => {
  it('is invoked once with what an HTTP call says, and its key', async () => {
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

  it.each(['null', '', ' null ', '{}', '{"took": 3}'])('that answers %j has done everything', async (body) =>
    expect(await answerTo({ body })).toEqual({ kind: 'all-succeeded' }),
  );

  it('answers item by item, like the body of an HTTP answer', async () => {
    const answer = await answerTo({
      body: '{"results": [{"id": "a", "status": "succeeded", "result": 1.0}, {"id": "x", "status": "failed"}]}',
    });
    expect(answer).toEqual({
      kind: 'results',
      items: new Map([['a', { status: 'succeeded', result: '1.0' }]]),
      foreign: 1,
    });
  });

  it('may report later', async () =>
    expect(await answerTo({ body: '{"pending": true}' })).toEqual({ kind: 'pending' }));

  it.each(['"done"', '[]', '{"results": 1}'])('that answers %s has not said what became of its items', async (body) =>
    expect(await answerTo({ body })).toMatchObject({ kind: 'unavailable', mayRetryAtOnce: true }),
  );

  it('that fails is invoked again; what it says is quoted, and no part of the reason', async () => {
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

  it('that returned more than Lambda hands on has done its work: for fewer items it may return less', async () => {
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
      'is throttled is left alone for a while',
      awsError(429, 'TooManyRequestsException', 'Rate exceeded'),
      {
        kind: 'unavailable',
        reason: 'the function parcels is throttled (TooManyRequestsException)',
        quote: 'Rate exceeded',
        mayRetryAtOnce: false,
      },
    ],
    [
      'is throttled and says for how long is left alone as long',
      {
        ...awsError(429, 'TooManyRequestsException'),
        headers: { 'x-amzn-errortype': 'TooManyRequestsException', 'retry-after': '7' },
      },
      { kind: 'unavailable', mayRetryAtOnce: false, throttled: true, retryAfter: 7_000 },
    ],
    [
      'cannot take so much will never take it',
      awsError(413, 'RequestTooLargeException'),
      {
        kind: 'refused',
        suspect: 'its-size',
        reason: 'the function parcels cannot take it (RequestTooLargeException)',
      },
    ],
    [
      'Lambda cannot run now is invoked again',
      awsError(500, 'ServiceException'),
      { kind: 'unavailable', mayRetryAtOnce: true },
    ],
    [
      'is refused for a reason that nobody knows here is left alone',
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
  ])('that cannot be invoked (%s) is the fault of the configuration', async (name, status) =>
    expect(await answerTo(awsError(status, name))).toMatchObject({
      kind: 'unavailable',
      reason: `the function parcels could not be called (${name}): check the operation's downstream and the function's permissions`,
      mayRetryAtOnce: false,
      misconfigured: true,
    }),
  );

  it('gets no more than its time, and is not waited for', async () => {
    expect(await answerTo(undefined, { ...TARGET, timeout: 1_000 })).toEqual({
      kind: 'unavailable',
      reason: 'no answer from the function parcels within 1000 ms',
      mayRetryAtOnce: true,
    });
  });

  it('that nobody answers for is invoked again', async () => {
    const client = lambdaClient({ ...service.options, endpoint: 'http://127.0.0.1:9' });
    expect(await lambdaDownstream(TARGET, client).call(call)).toMatchObject({
      kind: 'unavailable',
      reason: expect.stringMatching(/^the function parcels could not be reached/),
      mayRetryAtOnce: true,
    });
  });
});
