import { beforeEach, describe, expect, it } from 'vitest';
import type { Answer, Call } from '../../src/domain/downstream/downstream.ts';
import type { FlowEvent } from '../../src/domain/events/events.ts';
import { memoryProcessed } from '../../src/memory/processed.ts';
import { emptyTables } from '../../src/memory/tables.ts';
import type { ProcessedKeys } from '../../src/ports/processed.ts';
import { completedRequests, mergingDownstream } from '../../src/steps/merge/merging-downstream.ts';
import { type Gate, openGate } from '../../src/virtual/gate.ts';
import { batchId, id, NOW, operationName, target } from '../factories/factories.ts';

const where = target('ship/depot=MUC');
const KEEP = 60_000;
const succeeded = { status: 'succeeded' };

const request = (name: string, ...inputs: (string | [key: string, version: number])[]) => ({
  id: id(name),
  payload: JSON.stringify({
    inputs: inputs
      .map((each) => (typeof each === 'string' ? [each, 0] : each))
      .map(([key, version]) => ({ id: key, version })),
  }),
});
const aCall = (items: Call['items'], batch = 1): Call => ({
  batchId: batchId(`${where}#1#${batch}`),
  operation: operationName('ship'),
  target: where,
  attempt: 1,
  items,
});
const perKey = (inputs: Record<string, string>): Answer => ({
  kind: 'all-succeeded',
  inputs: JSON.stringify(Object.entries(inputs).map(([key, status]) => ({ key, status }))),
});

describe('a merging downstream', () => {
  let tables: ReturnType<typeof emptyTables>;
  let now: number;
  let calls: Call[];
  let events: FlowEvent[];
  let answer: (call: Call) => Answer;
  beforeEach(() => {
    tables = emptyTables();
    now = NOW;
    calls = [];
    events = [];
    answer = () => ({ kind: 'all-succeeded' });
  });
  const merging = (processed: ProcessedKeys = memoryProcessed(tables, openGate)) => ({
    keys: 'inputs[].id',
    keepTasks: KEEP,
    processed,
    machine: { now: () => now },
  });
  const call = (of: Call, processed?: ProcessedKeys): Promise<Answer> =>
    mergingDownstream(
      {
        call: async (made) => {
          calls.push(made);
          return answer(made);
        },
      },
      { ...merging(processed), report: (event) => void events.push(event) },
    ).call(of);
  /** The inputs of each call: keys with their versions. */
  const called = (): string[][] =>
    calls.map(({ inputs = [] }) =>
      inputs.map((text) => {
        const { id: key, version } = JSON.parse(text) as { id: string; version: number };
        return `${key}${version}`;
      }),
    );
  const statuses = (said: Answer): Record<string, string> =>
    said.kind === 'results' ? Object.fromEntries([...said.items].map(([name, { status }]) => [name, status])) : {};

  it('calls once with the union of inputs, for the requests that need it', async () => {
    const said = await call(aCall([request('r1', 'a', 'b'), request('r2', 'b', 'c'), request('r3')]));
    expect(called()).toEqual([['a0', 'b0', 'c0']]);
    expect(calls[0]?.items.map((item) => item.id)).toEqual(['r1', 'r2']);
    expect(statuses(said)).toEqual({ r1: 'succeeded', r2: 'succeeded', r3: 'succeeded' });
    expect(events).toEqual([
      { event: 'merged', operation: 'ship', target: where, requests: 3, inputs: 3, skipped: 0, called: true },
    ]);
  });

  it('does not repeat processed inputs while they are remembered', async () => {
    await call(aCall([request('r1', 'a', 'b')]));
    await call(aCall([request('r2', 'b', 'c')], 2));
    const said = await call(aCall([request('r3', 'a', 'c')], 3));
    expect(called()).toEqual([['a0', 'b0'], ['c0']]);
    expect(said).toEqual({ kind: 'results', items: new Map([[id('r3'), succeeded]]), foreign: 0, withoutCall: true });
    expect(events.at(-1)).toMatchObject({ requests: 1, inputs: 2, skipped: 2, called: false });
    now += KEEP;
    await call(aCall([request('r4', 'a')], 4));
    expect(called().at(-1)).toEqual(['a0']);
  });

  it('processes a changed input again, also if it changed back', async () => {
    for (const [n, version] of [1, 2, 1].entries()) await call(aCall([request('r', ['a', version])], n));
    expect(called()).toEqual([['a1'], ['a2'], ['a1']]);
  });

  it('remembers the successful inputs of a partly successful job', async () => {
    answer = () => perKey({ a: 'succeeded', b: 'retry', c: 'failed' });
    const said = await call(aCall([request('r1', 'a'), request('r2', 'a', 'b'), request('r3', 'b', 'c')]));
    expect(statuses(said)).toEqual({ r1: 'succeeded', r2: 'retry', r3: 'failed' });
    answer = () => ({ kind: 'all-succeeded' });
    await call(aCall([request('r2', 'a', 'b')]));
    expect(called()).toEqual([['a0', 'b0', 'c0'], ['b0']]);
  });

  it('never brings an older text back with a retried request', async () => {
    answer = () => perKey({ a: 'succeeded', b: 'retry' });
    await call(aCall([request('old', ['a', 1], 'b'), request('new', ['a', 2])]));
    await call(aCall([request('old', ['a', 1], 'b')]));
    expect(called()).toEqual([['a2', 'b0'], ['b0']]);
    // The same if an earlier job has processed the newer text.
    answer = () => ({ kind: 'unavailable', reason: 'answered 503', mayRetryAtOnce: true });
    await call(aCall([request('r1', ['a', 1], 'c'), request('r2', ['a', 2])], 2));
    await call(aCall([request('r1', ['a', 1], 'c')], 2));
    expect(called().slice(2)).toEqual([['c0'], ['c0']]);
  });

  it('does not record a text that was skipped only as superseded', async () => {
    await call(aCall([request('first', ['a', 1])]));
    answer = () => ({ kind: 'unavailable', reason: 'answered 503', mayRetryAtOnce: true });
    // The parts of one batch: the processed text is the latest in the first part, and not in the second.
    await call(aCall([request('p', ['a', 2], 'c'), request('q', ['a', 1])], 3));
    await call(aCall([request('q', ['a', 1], 'd'), request('p', ['a', 2], 'c')], 3));
    answer = () => ({ kind: 'all-succeeded' });
    await call(aCall([request('later', ['a', 2])], 4));
    expect(called()).toEqual([['a1'], ['c0'], ['d0', 'c0'], ['a2']]);
  });

  it('remembers nothing of a failed call', async () => {
    for (const nothing of [
      { kind: 'unavailable', reason: 'answered 503', mayRetryAtOnce: true },
      { kind: 'refused', reason: 'answered 400' },
    ] as const) {
      answer = () => nothing;
      const said = await call(aCall([request('r1', 'a'), request('r2')]));
      expect(said).toEqual({ ...nothing, settled: new Map([[id('r2'), succeeded]]) });
    }
    expect(called()).toEqual([['a0'], ['a0']]);
    expect(events).toEqual([]);
  });

  it('answers for requests whose job reports later, and remembers inputs', async () => {
    await call(aCall([request('r0', 'a')]));
    const items = [request('r1', 'a', 'b'), request('r2', 'b', 'c'), request('r3')];
    const said = await completedRequests(merging(), aCall(items, 2), perKey({ b: 'succeeded', c: 'failed' }), false);
    expect(statuses(said)).toEqual({ r1: 'succeeded', r2: 'failed', r3: 'succeeded' });
    await call(aCall([request('r4', 'b', 'c')], 3));
    expect(called()).toEqual([['a0'], ['c0']]);
  });

  it('remembers an unclear text of a reported job for its own batch only', async () => {
    // The job processed version 2, of a request that failed.
    const left = [request('r1', ['a', 1]), request('r2', ['a', 0])];
    const results = new Map([[id('r1'), { status: 'succeeded' } as const]]);
    await completedRequests(merging(), aCall(left), { kind: 'results', items: results, foreign: 0 }, true);
    await call(aCall([request('r2', ['a', 0])]));
    await call(aCall([request('r1', ['a', 1])]));
    expect(called()).toEqual([]);
    await call(aCall([request('r3', ['a', 1])], 2));
    expect(called()).toEqual([['a1']]);
  });

  it('loses no input and repeats few if it stops between its writes', async () => {
    for (let stop = 1; stop < 10; stop += 1) {
      tables = emptyTables();
      calls = [];
      const did = new Set<string>();
      answer = (made) => {
        for (const input of made.inputs ?? []) did.add(input);
        return { kind: 'all-succeeded' };
      };
      let effects = 0;
      /** Dies after `stop` effects. */
      const mortal: Gate = async (_, each) =>
        each.map((effect) => {
          effects += 1;
          if (effects > stop) throw new Error('crashed');
          return effect();
        });
      const items = [request('r1', 'a', 'b'), request('r2', 'b', 'c', 'd')];
      const crashed = await call(aCall(items), memoryProcessed(tables, mortal)).then(
        () => false,
        () => true,
      );
      const remembered = [...(tables.processed.get(where)?.keys() ?? [])];
      for (const key of remembered) expect([...did].some((text) => text.includes(key))).toBe(true);
      if (crashed) expect(statuses(await call(aCall(items)))).toEqual({ r1: 'succeeded', r2: 'succeeded' });
      expect(did.size).toBe(4);
      // Inputs that were remembered before the crash are not processed again.
      if (crashed && remembered.length > 0) expect(calls[1]?.inputs ?? []).toHaveLength(4 - remembered.length);
      // One read, and one write for each of the four inputs.
      expect(crashed).toBe(stop < 5);
    }
  });
});
