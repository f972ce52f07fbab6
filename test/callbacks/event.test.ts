import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { callbackOf, happenedAt, parseCallback, printCallback } from '../../src/domain/callbacks/callback.ts';
import { leaving } from '../../src/domain/callbacks/event.ts';
import type { Task } from '../../src/domain/tasks/task.ts';
import { rawMembers } from '../../src/util/json-text.ts';
import { aStored, batchId, id, NOW } from '../factories/factories.ts';

const finished = { batchId: batchId('ship/depot=MUC#3#1'), attempts: 2, finishedAt: NOW };
const succeeded = (fields: object = {}, task: Partial<Task> = {}) =>
  aStored({ status: 'succeeded', ...finished, ...fields }, task);
const failed = aStored({
  status: 'failed',
  error: { code: 'refused', message: 'answered 400', retriable: false },
  ...finished,
});
const everybody = { callbacks: { failed: 'ops', succeeded: 'log' } };
const nobody = { callbacks: { failed: null, succeeded: null } };

/** The event of a task with a destination. */
const eventOf = (task: Task): string => callbackOf(everybody, task)?.event ?? '';
const parsed = (text: string) => JSON.parse(text) as Record<string, unknown> & { data: Record<string, unknown> };
const out = (task: Task, maxBytes = 1_000_000) => leaving(eventOf(task), 'Groupage-prod-Flow', maxBytes);

describe('the event of a task', () => {
  it('that failed is a CloudEvent with the details of its end', () => {
    expect(parsed(out(failed).text)).toEqual({
      specversion: '1.0',
      id: 'task-1.1',
      source: '/groupage/Groupage-prod-Flow/ship',
      type: 'groupage.task.failed',
      subject: 'task-1',
      time: '2026-01-01T00:00:00.000Z',
      datacontenttype: 'application/json',
      data: {
        id: 'task-1',
        operation: 'ship',
        target: 'ship/depot=MUC',
        status: 'failed',
        run: 1,
        batchId: 'ship/depot=MUC#3#1',
        attempts: 2,
        error: { code: 'refused', message: 'answered 400', retriable: false },
      },
    });
  });

  it('that succeeded has its result byte by byte', () => {
    const result = '{ "n": 12345678901234567890, "a": "\\u00fc", "2": 1, "1": 2 }';
    const { text, type } = out(succeeded({ result }, { run: 3, correlationId: 'c-1' }));
    expect(type).toBe('groupage.task.succeeded');
    expect(parsed(text)).toMatchObject({ id: 'task-1.3', data: { run: 3, correlationId: 'c-1', status: 'succeeded' } });
    expect(rawMembers(rawMembers(text).get('data') ?? '').get('result')).toBe(result);
  });

  it.each<[string, Task, object]>([
    ['without a result', succeeded(), { status: 'succeeded', attempts: 2 }],
    ['whose result was omitted', succeeded({ resultOmitted: 300_000 }), { resultOmitted: { bytes: 300_000 } }],
    [
      'that was superseded',
      aStored({ status: 'succeeded', supersededBy: id('task-2'), attempts: 0, finishedAt: NOW }),
      { status: 'succeeded', supersededBy: 'task-2', attempts: 0 },
    ],
    [
      'that expired while it waited',
      aStored({
        status: 'failed',
        error: { code: 'expired', message: 'too late', retriable: false },
        attempts: 0,
        finishedAt: NOW,
      }),
      { status: 'failed', attempts: 0, error: { code: 'expired', message: 'too late', retriable: false } },
    ],
  ])('%s says so, and leaves out absent fields', (_, task, fields) => {
    const { data } = parsed(out(task).text);
    const { batchId: none } = 'batchId' in task.state ? task.state : { batchId: undefined };
    expect(data).toEqual({
      id: 'task-1',
      operation: 'ship',
      target: 'ship/depot=MUC',
      run: 1,
      attempts: 2,
      ...(none === undefined ? {} : { batchId: none }),
      ...('error' in fields ? {} : { status: 'succeeded' }),
      ...fields,
    });
  });

  it('is the same at each repetition, and another one for another run', () => {
    expect(eventOf(failed)).toBe(eventOf(structuredClone(failed)));
    expect(parsed(eventOf({ ...failed, run: 2 })).id).toBe('task-1.2');
  });

  it.each(['created', 'batched'] as const)('that is %s does not exist, as the task has not ended', (status) => {
    expect(callbackOf(everybody, aStored({ status, batchId: finished.batchId } as Task['state']))).toBeUndefined();
  });
});

describe('the destination of a task', () => {
  it("is its own, else its operation's for the outcome, else none", () => {
    expect(callbackOf(everybody, failed)?.to).toBe('ops');
    expect(callbackOf(everybody, succeeded())?.to).toBe('log');
    expect(callbackOf(everybody, { ...failed, callback: 'mine' })?.to).toBe('mine');
    expect(callbackOf(nobody, { ...failed, callback: 'mine' })?.to).toBe('mine');
    expect(callbackOf(nobody, failed)).toBeUndefined();
  });
});

describe('an event that is sent', () => {
  it('names its deployment, as two stages may have tasks with one id', () => {
    expect(leaving(eventOf(failed), 'a b', 1_000_000).source).toBe('/groupage/a%20b/ship');
  });

  it("has its result if it fits to the byte, else the result's size", () => {
    const task = succeeded({ result: '"üüüü"' });
    const bytes = Buffer.byteLength(out(task).text);
    expect(out(task, bytes).text).toBe(out(task).text);
    const { text } = out(task, bytes - 1);
    expect(parsed(text).data).toEqual({ ...parsed(out(succeeded()).text).data, resultOmitted: { bytes: 10 } });
    expect({ ...parsed(text), data: 0 }).toEqual({ ...parsed(out(task).text), data: 0 });
  });

  it('contains no character that SNS or EventBridge refuse', () => {
    const { text } = out(succeeded({ result: '"\uffff\ufffe"' }));
    expect(text).toContain('"result":"\\uffff\\ufffe"');
  });

  it('equals the stored event, and fits if only its result is large', () => {
    const json = fc.oneof(
      fc.json(),
      fc.string({ unit: 'binary', maxLength: 400 }).map((text) => JSON.stringify(text)),
    );
    fc.assert(
      fc.property(json, fc.string({ unit: 'binary' }), fc.integer({ min: 900, max: 2_000 }), (result, stack, max) => {
        const task = succeeded({ result: result.toWellFormed() }, { correlationId: 'x"\\' });
        const { text, source, time } = leaving(eventOf(task), stack.toWellFormed(), max);
        const { data, ...attributes } = parsed(text);
        expect(attributes).toMatchObject({ id: 'task-1.1', source, time });
        expect(decodeURIComponent(source.split('/')[2] ?? '')).toBe(stack.toWellFormed());
        expect(text).not.toMatch(/[\ufffe\uffff]/);
        if ('result' in data) expect(data.result).toEqual(JSON.parse(result.toWellFormed()));
        else expect(data.resultOmitted).toEqual({ bytes: expect.any(Number) });
        expect(Buffer.byteLength(text) <= max || !('result' in data)).toBe(true);
      }),
      { numRuns: 300 },
    );
  });
});

describe('a callback message', () => {
  it('holds its event byte by byte', () => {
    const message = { to: 'ops', event: eventOf(succeeded({ result: '{ "n": 1e400 }' })) };
    expect(parseCallback(printCallback(message))).toEqual(message);
    expect(happenedAt(message)).toBe(NOW);
  });

  it.each([
    'junk',
    '[]',
    '{"to":"ops"}',
    '{"to":1,"event":{}}',
    '{"to":"ops","event":{"id":"a","source":"/groupage/ship","type":"t","time":"soon","data":{}}}',
    '{"to":"ops","event":{"id":"a","source":"/other/ship","type":"t","time":"2026-01-01T00:00:00Z","data":{}}}',
    '{"to":"ops","event":{"id":"a","source":"/groupage/ship","type":"t","time":"2026-01-01T00:00:00Z"}}',
  ])('is not: %s', (body) => expect(() => parseCallback(body)).toThrow(/not a message that Groupage sends/));
});
