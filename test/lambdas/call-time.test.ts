import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import type { Context } from 'aws-lambda';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { atFirstInvocation } from '../../lambdas/compose.ts';
import { callTime, inInvocation, TRIES, timed } from '../../src/aws/call-time.ts';
import { GaveUp, inRounds } from '../../src/aws/rounds.ts';
import { AWS_CALL, AWS_TRY, HANDOVER_MARGIN, LEADER_TIMEOUT, TO_REPORT } from '../../src/domain/timings.ts';
import { TimeIsUp } from '../../src/ports/machine.ts';
import { type AwsService, startAwsService } from '../factories/aws-service.ts';

let service: AwsService;
beforeAll(async () => {
  service = await startAwsService();
});
beforeEach(() => {
  service.requests.length = 0;
  service.behave(() => undefined);
});
afterAll(() => service.stop());

/**
 * A client with a timeout for each try. @param requestTimeout in milliseconds; longer than the time after which the
 * test expects the end
 */
const client = (requestTimeout = 2_000) =>
  new SQSClient({ ...service.options, ...TRIES, requestHandler: { ...TRIES.requestHandler, requestTimeout } });
const MESSAGE = new SendMessageCommand({ QueueUrl: 'http://127.0.0.1/0/queue', MessageBody: 'a' });
const withLeft = (timeLeft: number) => ({ timeLeft: () => timeLeft });
const answered = { body: { MessageId: 'm', MD5OfMessageBody: '0cc175b9c0f1b6a831c399e269772661' } };

it('a request without an answer ends before its function, without a retry, and says why', async () => {
  let closed = 0;
  service.behave((_, response) => {
    response.on('close', () => {
      closed += 1;
    });
    return undefined;
  });
  const sending = inInvocation(withLeft(TO_REPORT + 500), () => timed(client()).send(MESSAGE));
  await expect(sending).rejects.toThrow(new TimeIsUp(500, 'SQS'));
  // The service sees the end: no request continues while the function handles its next event.
  await vi.waitFor(() => expect(closed).toBe(service.requests.length), { timeout: 20_000 });
  // No request, if this machine was too busy to send it in time.
  expect(closed).toBeLessThan(2);
});

it('a request without an answer is retried while there is time', async () => {
  service.behave(() => (service.requests.length > 1 ? answered : undefined));
  const sending = inInvocation(withLeft(200_000), () => timed(client(50)).send(MESSAGE));
  await expect(sending).resolves.toMatchObject({ MessageId: 'm' });
  expect(service.requests).toHaveLength(2);
});

it('a request takes no longer than its limit, however much time is left', async () => {
  const sending = inInvocation(withLeft(200_000), () => timed(client(), 50).send(MESSAGE));
  await expect(sending).rejects.toThrow(new TimeIsUp(50, 'SQS'));
});

it('no request begins without time for it', async () => {
  const sending = inInvocation(withLeft(TO_REPORT), () => timed(client()).send(MESSAGE));
  await expect(sending).rejects.toThrow(TimeIsUp);
  expect(service.requests).toEqual([]);
});

it("the caller's own signal also ends a request, within an invocation and outside", async () => {
  const send = () => timed(client()).send(MESSAGE, { abortSignal: AbortSignal.timeout(50) });
  await expect(inInvocation(withLeft(200_000), send)).rejects.toMatchObject({ name: 'AbortError' });
  await expect(send()).rejects.toMatchObject({ name: 'AbortError' });
});

it('invocations in one process have separate deadlines, and code outside has none', async () => {
  const left = (time: number) => inInvocation(withLeft(time), async () => callTime());
  expect(await Promise.all([left(1_000), left(60_000)])).toEqual([1_000 - TO_REPORT, AWS_CALL]);
  expect(callTime()).toBe(Number.POSITIVE_INFINITY);
});

it('a handler runs within its invocation', async () => {
  vi.stubEnv('GROUPAGE_STACK', 'here');
  const handler = atFirstInvocation(() => async () => callTime());
  const context = (left: number) => ({ getRemainingTimeInMillis: () => left }) as Context;
  expect(await handler({}, context(3_000))).toBe(3_000 - TO_REPORT);
  expect(await handler({}, context(2_000))).toBe(2_000 - TO_REPORT);
  vi.unstubAllEnvs();
});

it('no pause before a retry exceeds the time left', async () => {
  const never = () => inRounds(['a'], async () => [{ each: 'a', cause: new Error('throttled') }]);
  await expect(inInvocation(withLeft(TO_REPORT), never)).rejects.toThrow(GaveUp);
  await expect(inInvocation(withLeft(TO_REPORT), never)).rejects.toThrow('1 of 1 not done after 1 rounds: throttled');
});

it("a leader's function has time for the unanswered requests of its steps", () => {
  // All messages of an event, then some of them, then each on its own.
  expect(3 * AWS_CALL + TO_REPORT).toBeLessThan(LEADER_TIMEOUT);
  expect(AWS_CALL + TO_REPORT).toBeLessThan(HANDOVER_MARGIN);
  expect(2 * AWS_TRY).toBeLessThan(AWS_CALL);
});

it('every client of the functions is timed', () => {
  const root = join(import.meta.dirname, '../..');
  const made = ['lambdas', 'src/aws', 'src/downstreams', 'src/destinations'].flatMap((folder) =>
    readdirSync(join(root, folder), { encoding: 'utf8' }).flatMap((file) =>
      [
        ...readFileSync(join(root, folder, file), 'utf8').matchAll(
          /.*\b(?:new \w+Client|(?:lambda|stepFunctions)Client)\(.*/g,
        ),
      ].map(([line]) => `${file}: ${line.trim()}`),
    ),
  );
  // These are wrapped at a later place, where they are returned.
  const elsewhere = [
    'clients.ts: const dynamodbClient =',
    'clients.ts: const sqsClient =',
    'lambda.ts:',
    'step-functions.ts:',
  ];
  expect(made.filter((line) => !line.includes('timed(') && !elsewhere.some((each) => line.startsWith(each)))).toEqual(
    [],
  );
  expect(made.length).toBeGreaterThan(7);
});
