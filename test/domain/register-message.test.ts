import { describe, expect, it } from 'vitest';
import { INPUTS_MAX } from '../../src/domain/merging/inputs.ts';
import { withId } from '../../src/domain/register/register-body.ts';
import { parseRegisterMessage } from '../../src/domain/register/register-message.ts';
import { PAYLOAD_MAX_BYTES } from '../../src/domain/tasks/task.ts';
import { aConfig, aPolicy } from '../factories/factories.ts';

const config = aConfig({ batch: aPolicy({ maxBytes: 400_000 }) });
const parse = (body: unknown) =>
  parseRegisterMessage(config, {
    messageId: 'message-1',
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
const pathsOf = (body: unknown) => {
  const parsed = parse(body);
  return parsed.ok ? [] : parsed.problems.map(({ path }) => path);
};
const good = { operation: 'ship', payload: { depot: 'MUC' } };

describe('a register message', () => {
  it('becomes a task named after its SQS message', () => {
    expect(parse(good)).toMatchObject({
      ok: true,
      value: { id: 'message-1', target: 'ship/depot=MUC', payload: '{"depot":"MUC"}' },
    });
  });

  it('may have its own id and a correlation id', () => {
    expect(parse({ ...good, id: 'mine', correlationId: 'c' })).toMatchObject({
      ok: true,
      value: { id: 'mine', correlationId: 'c' },
    });
  });

  it('keeps its payload unchanged', () => {
    const payload = '{ "depot":"MUC", "n":12345678901234567890.50 }';
    expect(parse(`{"operation":"ship","payload":${payload}}`)).toMatchObject({ ok: true, value: { payload } });
  });

  it('is refused with all reasons at once', () => {
    expect(pathsOf('{')).toEqual(['']);
    expect(pathsOf('"text"')).toEqual(['']);
    expect(pathsOf([])).toEqual(['']);
    expect(pathsOf({ operation: 7, payload: [], id: '-', correlationId: 'x'.repeat(129) })).toEqual([
      'operation',
      'payload',
      'id',
      'correlationId',
    ]);
    expect(pathsOf('{"operation":"ship","payload":{"depot":"MUC"},"correlationId":"\\ud800"}')).toEqual([
      'correlationId',
    ]);
    expect(pathsOf({ ...good, operation: 'none' })).toEqual(['operation']);
    expect(pathsOf({ ...good, operation: 'constructor' })).toEqual(['operation']);
    expect(pathsOf({ ...good, payload: {} })).toEqual(['payload.depot']);
    expect(pathsOf({ ...good, prioriti: 3, priority: 3 })).toEqual(['prioriti']);
    expect(pathsOf({ ...good, id: 'x'.repeat(129) })).toEqual(['id']);
    expect(pathsOf('{"operation":"ship","payload":{"depot":"MUC"},"__proto__":{"id":"x"}}')).toEqual(['__proto__']);
  });

  it('is refused if its payload exceeds the limit, or `batch.maxBytes`', () => {
    const filled = (bytes: number) => ({ ...good, payload: { depot: 'MUC', text: 'x'.repeat(bytes) } });
    expect(pathsOf(filled(PAYLOAD_MAX_BYTES - 100))).toEqual([]);
    expect(parse(filled(PAYLOAD_MAX_BYTES))).toMatchObject({
      problems: [{ reason: expect.stringContaining('at most 262144') }],
    });
    const small = aConfig({ batch: aPolicy({ maxBytes: 200 }) });
    const parsed = parseRegisterMessage(small, { messageId: 'm', body: JSON.stringify(filled(200)) });
    expect(parsed).toMatchObject({
      ok: false,
      problems: [{ path: 'payload', reason: expect.stringContaining('batch.maxBytes') }],
    });
  });

  it('is refused if the rest of it is too large to be sent again', () => {
    const withSpace = (bytes: number) => `{"operation":"ship","payload":{"depot":"MUC"}${' '.repeat(bytes)}}`;
    expect(pathsOf(withSpace(400_000))).toEqual([]);
    expect(parse(withSpace(500_000))).toMatchObject({
      problems: [{ path: '', reason: expect.stringMatching(/a message may have at most 500000/) }],
    });
    const twice = `{"operation":"ship","payload":"${'\ufffe'.repeat(200_000)}","payload":{"depot":"MUC"}}`;
    expect(pathsOf(twice)).toEqual(['']);
  });

  it('is not refused for the size of the id that a redrive adds', () => {
    const start = '{"operation":"ship","payload":{"depot":"MUC"}';
    const largest = `${start}${' '.repeat(500_000 - start.length - 1)}}`;
    const named = withId(largest, '0b5e4f6a-1c2d-4e3f-8a9b-0c1d2e3f4a5b');
    expect([largest, named, withId(named, 'another')].map(pathsOf)).toEqual([[], [], []]);
    const larger = `${start}${' '.repeat(500_000 - start.length)}}`;
    expect([larger, withId(larger, 'm-1')].map(pathsOf)).toEqual([[''], ['']]);
    // Only bytes that the sender wrote are counted.
    expect(pathsOf(`${start},"id":"mine"${' '.repeat(500_000 - start.length)}}`)).toEqual(['']);
  });

  it('is refused without inputs if its operation merges them', () => {
    const merging = aConfig({ merge: { keys: 'inputs[].id' } });
    const problemsOf = (payload: object) => {
      const body = JSON.stringify({ ...good, payload: { depot: 'MUC', ...payload } });
      const parsed = parseRegisterMessage(merging, { messageId: 'message-1', body });
      return parsed.ok ? [] : parsed.problems;
    };
    expect(problemsOf({ inputs: [{ id: 'a' }, { id: 7 }] })).toEqual([]);
    expect(problemsOf({ inputs: [] })).toEqual([]);
    expect(problemsOf({})).toEqual([
      { path: 'payload.inputs', reason: 'is missing; the operation merges its requests by inputs[].id' },
    ]);
    expect(problemsOf({ inputs: 'a' })).toMatchObject([{ path: 'payload.inputs' }]);
    expect(problemsOf({ inputs: [{ id: 'a' }, {}, { id: null }] })).toMatchObject([
      { path: 'payload.inputs[1].id' },
      { path: 'payload.inputs[2].id' },
    ]);
    expect(problemsOf({ inputs: Array.from({ length: 900 }, () => 0) })).toHaveLength(20);
  });

  it('is refused with more inputs than one message may write rows for', () => {
    const merging = aConfig({ merge: { keys: 'inputs[]' } });
    const problemsOf = (count: number) => {
      const inputs = Array.from({ length: count }, (_, n) => n);
      const body = JSON.stringify({ ...good, payload: { depot: 'MUC', inputs } });
      const parsed = parseRegisterMessage(merging, { messageId: 'message-1', body });
      return parsed.ok ? [] : parsed.problems;
    };
    expect(problemsOf(INPUTS_MAX)).toEqual([]);
    expect(problemsOf(INPUTS_MAX + 1)).toEqual([
      { path: 'payload.inputs', reason: 'has 5001 inputs; a request may have 5000: split it' },
    ]);
  });

  it('is refused with the configured operations, and a long name is cut off', () => {
    const parsed = parse({ ...good, operation: 'x'.repeat(10_000) });
    expect(parsed).toMatchObject({ problems: [{ reason: expect.stringMatching(/configured are ship$/) }] });
    if (!parsed.ok) expect(parsed.problems[0]?.reason.length).toBeLessThan(200);
  });
});
