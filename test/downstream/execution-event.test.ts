import { describe, expect, it } from 'vitest';
import { printEvent } from '../../src/domain/downstream/downstream.ts';
import { parseExecutionEvent } from '../../src/domain/downstream/execution-event.ts';
import { aCall, id } from '../factories/factories.ts';

const INPUT = printEvent(aCall({ items: ['a', 'b'].map((each) => ({ id: id(each), payload: '{}' })) }));
const BATCH = 'ship/depot=MUC#1#1';

/** As in the documentation of Step Functions. */
const anEvent = (detail: Record<string, unknown> = {}, fields: Record<string, unknown> = {}): string =>
  JSON.stringify({
    version: '0',
    id: '315c1398-40ff-a850-213b-158f73e60175',
    'detail-type': 'Step Functions Execution Status Change',
    source: 'aws.states',
    account: '111122223333',
    time: '2026-02-26T19:42:21Z',
    region: 'us-east-1',
    resources: ['arn:aws:states:us-east-1:111122223333:execution:parcels:ship-1'],
    detail: {
      executionArn: 'arn:aws:states:us-east-1:111122223333:execution:parcels:ship-1',
      stateMachineArn: 'arn:aws:states:us-east-1:111122223333:stateMachine:parcels',
      name: 'ship-1',
      status: 'SUCCEEDED',
      startDate: 1_551_225_271_984,
      stopDate: 1_551_225_272_984,
      input: INPUT,
      output: 'null',
      inputDetails: { included: true },
      outputDetails: { included: true },
      ...detail,
    },
    ...fields,
  });

describe('an execution that succeeded', () => {
  it.each(['null', '"done"', '[1]', '{"took": 3}', INPUT])('without results has done all its items: %s', (output) => {
    const report = parseExecutionEvent(anEvent({ output }));
    expect(report).toEqual({ batchId: BATCH, results: expect.any(String), withoutResults: true });
    // Only its own items: another execution may have the rest of the batch.
    expect(JSON.parse((report as { results: string }).results)).toEqual(
      ['a', 'b'].map((item) => ({ id: item, status: 'succeeded' })),
    );
  });

  it('without items in its input has done the whole pending job', () => {
    const input = JSON.stringify({ batchId: BATCH });
    expect(parseExecutionEvent(anEvent({ input }))).toEqual({
      batchId: BATCH,
      results: null,
      withoutResults: true,
    });
  });

  it('reports its results byte by byte', () => {
    const results = '[{"id":"a","status":"succeeded","result":1.0}, {"id":"b","status":"failed"}]';
    expect(parseExecutionEvent(anEvent({ output: `{"results": ${results}}` }))).toEqual({ batchId: BATCH, results });
  });

  it('with a failure of another protocol in its output is retried', () => {
    const report = parseExecutionEvent(anEvent({ output: '{"batchItemFailures": [{"itemIdentifier": "a"}]}' }));
    const error = expect.objectContaining({
      message:
        'its execution succeeded with `batchItemFailures`, which Groupage does not read: answer {"results":[…]}, see docs/reference/downstream-call.md',
    });
    expect(report).toEqual({ batchId: BATCH, results: expect.any(String) });
    expect(JSON.parse((report as { results: string }).results)).toEqual(
      ['a', 'b'].map((item) => ({ id: item, status: 'retry', error })),
    );
  });

  it('without its input is identified by the batchId in its output', () => {
    const output = JSON.stringify({ batchId: BATCH, results: [] });
    const left = { input: undefined, inputDetails: { included: false }, output };
    expect(parseExecutionEvent(anEvent(left))).toEqual({ batchId: BATCH, results: '[]' });
    expect(parseExecutionEvent(anEvent({ ...left, output: 'null' }))).toEqual({
      problem: expect.stringMatching(/^the input of arn:.*:ship-1 is too large .* let the last state send/),
    });
  });

  it('without its output fails its items, with what to do', () => {
    const report = parseExecutionEvent(anEvent({ output: undefined, outputDetails: { included: false } }));
    expect(JSON.parse((report as { results: string }).results)).toEqual(
      ['a', 'b'].map((item) => ({
        id: item,
        status: 'failed',
        error: expect.objectContaining({ message: expect.stringContaining('let the last state send') }),
      })),
    );
  });
});

describe('an execution that did not succeed', () => {
  it.each([
    [
      'FAILED',
      { error: 'States.TaskFailed', cause: 'no lorry' },
      'its execution ended FAILED: States.TaskFailed: no lorry',
    ],
    ['TIMED_OUT', { error: null, cause: null }, 'its execution ended TIMED_OUT'],
    ['ABORTED', {}, 'its execution ended ABORTED'],
  ])('(%s) has its items retried', (status, fields, message) => {
    const report = parseExecutionEvent(anEvent({ status, output: null, outputDetails: null, ...fields }));
    expect(report).toMatchObject({ batchId: BATCH });
    expect(JSON.parse((report as { results: string }).results)).toEqual(
      ['a', 'b'].map((item) => ({ id: item, status: 'retry', error: { code: status, message, retriable: true } })),
    );
  });
});

it('an execution whose state returned too much fails its items, as a retry would not help', () => {
  const cause =
    "The state/task 'Label' returned a result with a size exceeding the maximum number of bytes service limit.";
  const fields = { status: 'FAILED', output: null, outputDetails: null, error: 'States.DataLimitExceeded', cause };
  const report = parseExecutionEvent(anEvent(fields));
  const message = expect.stringMatching(/States\.DataLimitExceeded: .* let the last state send .* batch\.maxSize/);
  expect(JSON.parse((report as { results: string }).results)).toEqual(
    ['a', 'b'].map((item) => ({
      id: item,
      status: 'failed',
      error: { code: 'results-left-out', message, retriable: true },
    })),
  );
});

describe('an event', () => {
  it('of an execution that Groupage did not start is named as such', () =>
    expect(parseExecutionEvent(anEvent({ input: '{"order": 1}' }))).toEqual({
      problem: expect.stringContaining('Groupage did not start it'),
    }));

  it.each([
    ['an execution that runs', anEvent({ status: 'RUNNING' })],
    ['an event of another kind', anEvent({}, { 'detail-type': 'Scheduled Event' })],
    ['an event of another source', anEvent({}, { source: 'parcels' })],
    ['an event without a detail', anEvent({}, { detail: null })],
    ["a batch's own message", '{"b":"ship/depot=MUC#1#1"}'],
    ['a report', '{"batchId":"ship/depot=MUC#1#1","results":[]}'],
    ['no JSON', 'hello'],
  ])('is no report of an execution: %s', (_, body) => expect(parseExecutionEvent(body)).toBeUndefined());
});
