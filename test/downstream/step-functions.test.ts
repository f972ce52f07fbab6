/** The Step Functions kind against a real server that keeps executions as Step Functions documents it. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { StateMachineTarget } from '../../src/domain/config/endpoints.ts';
import { type Answer, idempotencyKey, traceparentOf } from '../../src/domain/downstream/downstream.ts';
import { stepFunctionsClient, stepFunctionsDownstream } from '../../src/downstreams/step-functions.ts';
import { type AwsService, awsError, startAwsService } from '../factories/aws-service.ts';
import { aCall, batchId, id, operationName } from '../factories/factories.ts';

/** A timeout that a busy machine does not reach. */
const TARGET: StateMachineTarget = {
  kind: 'step-functions',
  stateMachine: 'parcels',
  timeout: 200_000,
  deadline: 60_000,
  requireResults: null,
};
const ARN = 'arn:aws:states:us-east-1:000000000000:stateMachine:parcels';

interface Execution {
  readonly name: string;
  readonly input: string;
  status: 'RUNNING' | 'ENDED';
}

let service: AwsService;
let executions: Execution[];
beforeEach(async () => {
  executions = [];
  // https://docs.aws.amazon.com/step-functions/latest/apireference/API_StartExecution.html
  service = await startAwsService(({ body }) => {
    const { stateMachineArn, name, input } = JSON.parse(body) as {
      stateMachineArn: string;
      name: string;
      input: string;
    };
    expect(stateMachineArn).toBe(ARN);
    const known = executions.find((execution) => execution.name === name);
    if (known && (known.status === 'ENDED' || known.input !== input)) return awsError(400, 'ExecutionAlreadyExists');
    if (!known) executions.push({ name, input, status: 'RUNNING' });
    return { body: { executionArn: `${ARN.replace('stateMachine', 'execution')}:${name}`, startDate: 1 } };
  });
});
afterEach(() => service.stop());

const start = (fields: Parameters<typeof aCall>[0] = {}, tag?: string, target = TARGET): Promise<Answer> =>
  stepFunctionsDownstream(target, ARN, stepFunctionsClient(service.options), tag).call(aCall(fields));

describe('a state machine', () => {
  it('is started once for a batch, which then waits for its report', async () => {
    const items = [{ id: id('a'), payload: '{"n": 1.0}' }];
    expect(await start({ items })).toEqual({ kind: 'pending' });
    const [execution, ...others] = executions;
    expect(others).toEqual([]);
    expect(execution?.input).toContain('{"n": 1.0}');
    expect(JSON.parse(execution?.input ?? '')).toEqual({
      idempotencyKey: idempotencyKey(aCall({ items })),
      traceparent: traceparentOf(aCall({ items })),
      batchId: 'ship/depot=MUC#1#1',
      operation: 'ship',
      target: 'ship/depot=MUC',
      attempt: 1,
      items: [{ id: 'a', payload: { n: 1 } }],
    });
  });

  it('is started for each of two instances with batches of one id', async () => {
    for (const [tag, payload] of [
      [undefined, '1'],
      ['0123abcd', '2'],
    ] as const)
      expect(await start({ items: [{ id: id('a'), payload }] }, tag)).toEqual({ kind: 'pending' });
    const names = executions.map(({ name }) => name);
    expect(names).toEqual([expect.stringMatching(/^ship-/), expect.stringMatching(/^0123abcd-ship-/)]);
  });

  it('is started with a valid name for any batch id', async () => {
    const long = 'Ship-_'.repeat(11).slice(0, 64);
    await start({
      operation: operationName(long),
      batchId: batchId(`${long}/depot=%22%C3%9F*?${'x'.repeat(500)}#1#1`),
    });
    await start({ items: [{ id: id('b'), payload: '{}' }] });
    expect(executions).toHaveLength(2);
    for (const { name } of executions) expect(name).toMatch(/^[A-Za-z0-9_-]{1,80}$/);
  });

  it('that still runs after a crash is not started again', async () => {
    await start();
    expect(await start({ attempt: 2 })).toEqual({ kind: 'pending' });
    expect(await start({ attempt: 3 })).toEqual({ kind: 'pending' });
    expect(executions).toHaveLength(1);
  });

  it('that ended without a report is started again at the next attempt', async () => {
    await start();
    (executions[0] as Execution).status = 'ENDED';
    expect(await start({ attempt: 2 })).toEqual({ kind: 'pending' });
    expect(executions.map(({ input }) => (JSON.parse(input) as { attempt: number }).attempt)).toEqual([1, 2]);
    expect(await start({ attempt: 3 })).toEqual({ kind: 'pending' });
    expect(executions).toHaveLength(2);
  });

  it('that ended at once is pending until its report arrives', async () => {
    await start();
    (executions[0] as Execution).status = 'ENDED';
    expect(await start()).toEqual({ kind: 'pending' });
    expect(executions).toHaveLength(1);
  });

  it.each([
    [
      'StateMachineDoesNotExist',
      /could not be called \(StateMachineDoesNotExist\): check the operation's downstream/,
      false,
    ],
    ['AccessDeniedException', /could not be called \(AccessDeniedException\)/, false],
    ['ExecutionLimitExceeded', /is throttled \(ExecutionLimitExceeded\)/, false],
  ])('that cannot be started (%s) is not retried at once', async (name, reason, mayRetryAtOnce) => {
    service.behave(() => awsError(400, name));
    const answer = await start();
    expect(answer).toMatchObject({ kind: 'unavailable', reason: expect.stringMatching(reason), mayRetryAtOnce });
    expect('throttled' in answer).toBe(name === 'ExecutionLimitExceeded');
  });

  it('refuses too large an input, which is not retried', async () => {
    service.behave(() => awsError(400, 'InvalidExecutionInput'));
    expect(await start()).toMatchObject({
      kind: 'refused',
      suspect: 'its-size',
      reason: expect.stringContaining('the state machine parcels'),
    });
  });

  it('that does not start in time is retried', async () => {
    service.behave(() => undefined);
    expect(await start({}, undefined, { ...TARGET, timeout: 1_000 })).toEqual({
      kind: 'unavailable',
      reason: 'no answer from the state machine parcels within 1000 ms',
      mayRetryAtOnce: true,
    });
  });
});
