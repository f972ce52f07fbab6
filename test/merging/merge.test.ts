import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Answer } from '../../src/domain/downstream/downstream.ts';
import { digest } from '../../src/domain/ids.ts';
import { perRequest, settledBy } from '../../src/domain/merging/answers.ts';
import { inputsIn, keysIn } from '../../src/domain/merging/inputs.ts';
import {
  doneBefore,
  doneSomehow,
  doneWith,
  type Known,
  merge,
  type Plan,
  skip,
} from '../../src/domain/merging/merge.ts';
import type { Age } from '../../src/domain/tasks/age.ts';
import { batchId, id } from '../factories/factories.ts';

const KEYS = 'inputs[].id';
const BATCH = batchId('ship/depot=MUC#1#1');

/** A request for inputs: keys, or keys with a version. */
const request = (name: string, ...inputs: (string | [key: string, version: number])[]) => ({
  id: id(name),
  payload: JSON.stringify({
    inputs: inputs.map((each) => (typeof each === 'string' ? { id: each } : { id: each[0], version: each[1] })),
  }),
});
type Request = ReturnType<typeof request> & { readonly age?: Age };
/** The same request with a sent time. */
const sent = (sentAt: number, each: Request, version?: number): Request => ({
  ...each,
  age: { id: each.id, sentAt, ...(version === undefined ? {} : { version }) },
});
const planOf = (requests: readonly Request[], known: [string, Known][] = []) =>
  skip(merge(requests, KEYS), new Map(known.map(([key, each]) => [JSON.stringify(key), each])), BATCH);
const texts = ({ toDo }: Plan): unknown[] => toDo.map(({ text }) => JSON.parse(text));
/** The outcome of each request. */
const outcomes = (plan: Plan, answer: Answer): Record<string, unknown> => {
  const answered = perRequest(plan, answer).answer;
  return answered.kind === 'results'
    ? Object.fromEntries([...answered.items].map(([name, { status }]) => [name, status]))
    : { kind: answered.kind };
};
const keysOrProblems = (keys: string, payload: unknown) => keysIn(keys, payload, JSON.stringify(payload));
const perKey = (...inputs: object[]): Answer => ({ kind: 'all-succeeded', inputs: JSON.stringify(inputs) });

describe('input keys', () => {
  it('are found where the configuration says, in elements or as elements', () => {
    const payload = { scene: { tiles: [{ meta: { id: 'a' } }, { meta: { id: 7 } }] }, names: ['x', 1] };
    expect(keysOrProblems('scene.tiles[].meta.id', payload)).toEqual({ ok: true, value: ['"a"', '7'] });
    expect(keysOrProblems('names[]', payload)).toEqual({ ok: true, value: ['"x"', '1'] });
  });

  it('are equal however they are written, and input texts stay unchanged', () => {
    const payload = '{"inputs": [ {"id":"a",  "n":1.0} , {"id":"\\u0061"}, {"id":1.0}, {"id":1} ], "inputs2":[]}';
    expect(inputsIn(KEYS, payload)).toMatchObject({
      ok: true,
      value: [
        { key: '"a"', text: '{"id":"a",  "n":1.0}' },
        { key: '"a"', text: '{"id":"\\u0061"}' },
        { key: '1', text: '{"id":1.0}' },
        { key: '1', text: '{"id":1}' },
      ],
    });
  });

  it.each(['0.1000000000000000055', '9007199254740991.4', '1e-400'])('are not rounded: %s', (number) => {
    const reason =
      'is a number with too many digits to be read exactly, and it identifies the input; send it as a string';
    expect(inputsIn(KEYS, `{"inputs": [{"id": 1}, {"id": ${number}}, {"id": "1e9"}]}`)).toEqual({
      ok: false,
      problems: [{ path: 'payload.inputs[1].id', reason }],
    });
    expect(inputsIn('names[]', `{"names": ["a", 2, ${number}]}`)).toEqual({
      ok: false,
      problems: [{ path: 'payload.names[2]', reason }],
    });
  });

  it.each<[string, unknown, string]>([
    ['nothing', {}, 'payload.inputs is missing'],
    ['null', { inputs: null }, 'payload.inputs must be a list'],
    ['an object', { inputs: { id: 1 } }, 'payload.inputs must be a list'],
    ['an element without a key', { inputs: [{ id: 1 }, {}] }, 'payload.inputs[1].id must be a string'],
    ['a key that is an object', { inputs: [{ id: {} }] }, 'payload.inputs[0].id must be a string'],
    ['a number that is not exact', { inputs: [{ id: 2 ** 53 }] }, 'payload.inputs[0].id must be a string'],
  ])('are not taken from %s', (_, payload, reason) => {
    const found = keysOrProblems(KEYS, payload);
    expect(found.ok ? [] : found.problems.map((each) => `${each.path} ${each.reason}`)).toEqual([
      expect.stringContaining(reason),
    ]);
  });
});

it('an object that inherits a property has no input key from it', () => {
  expect(keysOrProblems('inputs[].constructor.name', { inputs: [{}] })).toMatchObject({
    problems: [{ path: 'payload.inputs[0].constructor.name' }],
  });
  expect(keysOrProblems('constructor.inputs[]', {})).toMatchObject({
    problems: [{ path: 'payload.constructor.inputs' }],
  });
});

describe('merged requests', () => {
  it('need each input once, at its first position', () => {
    expect(texts(planOf([request('r1', 'a', 'b'), request('r2', 'b', 'c', 'b')]))).toEqual(
      ['a', 'b', 'c'].map((key) => ({ id: key })),
    );
  });

  it('use the later text of a key, also within one request', () => {
    expect(texts(planOf([request('r1', ['a', 1], 'b'), request('r2', ['a', 2], ['c', 1], ['c', 2])]))).toEqual([
      { id: 'a', version: 2 },
      { id: 'b' },
      { id: 'c', version: 2 },
    ]);
  });

  it('use the text of the newer request, whichever is first in the batch', () => {
    const [older, newer] = [sent(1, request('z', ['a', 1])), sent(2, request('r', ['a', 2]))];
    for (const all of [
      [older, newer],
      [newer, older],
    ])
      expect(texts(planOf(all))).toEqual([{ id: 'a', version: 2 }]);
    const versioned = sent(1, request('v', ['a', 3]), 7);
    expect(texts(planOf([versioned, newer, older]))).toEqual([{ id: 'a', version: 3 }]);
  });

  it('skip a text older than the processed one, but process a possibly newer one', () => {
    const [done] = planOf([sent(5, request('before', ['a', 2]))]).toDo;
    const known: [string, Known][] = [['a', doneWith(done as never, batchId('another'))]];
    const plan = planOf([sent(4, request('old', ['a', 1]))], known);
    expect(texts(plan)).toEqual([]);
    expect(settledBy(plan).get(id('old'))).toEqual({ status: 'succeeded' });
    for (const other of [sent(5, request('same', ['a', 1])), sent(6, request('new', ['a', 1])), request('r', ['a', 1])])
      expect(texts(planOf([other], known)), other.id).toEqual([{ id: 'a', version: 1 }]);
    // A task with a version is processed even if earlier ones had none, and the other way round.
    expect(texts(planOf([sent(4, request('r', ['a', 1]), 1)], known))).toEqual([{ id: 'a', version: 1 }]);
  });

  it('skip a text older than that of a batch whose processed text is unknown', () => {
    const [done] = planOf([sent(5, request('before', ['a', 2]))]).toDo;
    const known: [string, Known][] = [['a', doneSomehow(done as never, batchId('another'))]];
    expect(texts(planOf([sent(4, request('old', ['a', 1]))], known))).toEqual([]);
    expect(texts(planOf([sent(6, request('new', ['a', 1]))], known))).toEqual([{ id: 'a', version: 1 }]);
  });

  it('are skipped together as alone if one with an older text has no version', () => {
    const done = doneWith(planOf([sent(5, request('before', ['a', 2]), 3)]).toDo[0] as never, batchId('another'));
    const [old, unclear] = [sent(4, request('old', ['a', 1]), 1), sent(6, request('unclear', ['a', 1]))];
    expect(texts(planOf([unclear], [['a', done]]))).toEqual([{ id: 'a', version: 1 }]);
    const together = planOf([old, unclear], [['a', done]]);
    expect(texts(together)).toEqual([]);
    const known: [string, Known][] = [['a', doneBefore(together.skipped[0] as never, BATCH) as Known]];
    expect(texts(planOf([unclear], known))).toEqual([]);
    // The same text from a request that is newer than the processed one, in another part of the batch.
    expect(texts(planOf([sent(6, request('newer', ['a', 1]), 4)], known))).toEqual([{ id: 'a', version: 1 }]);
  });

  it('that superseded others in one part do not supersede newer ones in another', () => {
    const part = planOf([sent(1, request('r1', ['a', 1])), sent(2, request('r2', ['a', 2]))]);
    const known: [string, Known][] = [['a', doneWith(part.toDo[0] as never, BATCH)]];
    expect(texts(planOf([sent(1, request('r1', ['a', 1]))], known))).toEqual([]);
    expect(texts(planOf([sent(3, request('r3', ['a', 1]))], known))).toEqual([{ id: 'a', version: 1 }]);
  });

  it('with a processed text make older requests outdated if they supersede them', () => {
    const done = doneWith(planOf([sent(1, request('before', ['a', 1]))]).toDo[0] as never, batchId('another'));
    const [older, newer] = [sent(2, request('older', ['a', 2])), sent(3, request('newer', ['a', 1]))];
    const plan = planOf([older, newer], [['a', done]]);
    expect(texts(plan)).toEqual([]);
    const known: [string, Known][] = [['a', doneBefore(plan.skipped[0] as never, BATCH) as Known]];
    expect(known[0]?.[1].age).toMatchObject({ sentAt: 3 });
    expect(texts(planOf([older], known))).toEqual([]);
  });

  it('are marked for their batch only if their age does not order them', () => {
    const newer = sent(2, request('newer', ['a', 2]), 3);
    const marksAfter = (other: Request, known: [string, Known][] = []): number =>
      doneWith(planOf([other, newer], known).toDo[0] as never, BATCH).marks.length - 1;
    expect(marksAfter(sent(1, request('older', ['a', 1]), 2))).toBe(0);
    expect(marksAfter(sent(2, request('at-once', ['a', 1]), 3))).toBe(1);
    const unclear = sent(5, request('unclear', ['a', 1]));
    expect(marksAfter(unclear)).toBe(1);
    // In the next part of the batch an even newer one is processed. The mark remains.
    const known = doneWith(planOf([unclear, newer]).toDo[0] as never, BATCH);
    const next = planOf([sent(3, request('next', ['a', 3]), 4)], [['a', known]]);
    const then: [string, Known][] = [['a', doneWith(next.toDo[0] as never, BATCH)]];
    expect(texts(planOf([unclear], then))).toEqual([]);
    expect(doneBefore(planOf([unclear], then).skipped[0] as never, BATCH)).toBeUndefined();
  });

  it('are skipped by the text marks of release 0.2.0 if no age is known', () => {
    const request0 = sent(1, request('r', ['a', 1]));
    const [input] = planOf([request0]).toDo;
    const marks = ['another', digest(`${BATCH} ${input?.fingerprint}`).slice(0, 22)];
    expect(texts(planOf([request0], [['a', { marks }]]))).toEqual([]);
    expect(texts(planOf([request0], [['a', { marks, age: { sentAt: 0 } }]]))).toEqual([{ id: 'a', version: 1 }]);
  });

  it('succeed even if one of them cannot be read', () => {
    const plan = planOf([request('good', 'a'), { id: id('bad'), payload: '{"inputs":[{}]}' }]);
    expect(texts(plan)).toEqual([{ id: 'a' }]);
    expect(outcomes(plan, { kind: 'all-succeeded' })).toEqual({ good: 'succeeded', bad: 'failed' });
    const silent = { kind: 'all-succeeded', withoutResults: true } as const;
    expect(perRequest(plan, silent).answer).toMatchObject({ kind: 'results', withoutResults: true });
    expect(settledBy(plan).get(id('bad'))).toMatchObject({
      error: { code: 'inputs-unreadable', message: expect.stringContaining('payload.inputs[0].id') },
    });
  });

  it('skip inputs that did not change, and process changed ones', () => {
    const [done] = planOf([request('before', ['a', 1])]).toDo;
    const known: [string, Known][] = [['a', doneWith(done as never, batchId('another'))]];
    expect(texts(planOf([request('r', ['a', 1], 'b')], known))).toEqual([{ id: 'b' }]);
    expect(texts(planOf([request('r', ['a', 2])], known))).toEqual([{ id: 'a', version: 2 }]);
  });

  it('do not bring back a superseded text in their batch; another batch may', () => {
    const both = planOf([request('r1', ['a', 1], 'b'), request('r2', ['a', 2])]);
    const known = doneWith(both.toDo[0] as never, BATCH);
    expect(texts(planOf([request('r1', ['a', 1], 'b')], [['a', known]]))).toEqual([{ id: 'b' }]);
    const later = skip(merge([request('r3', ['a', 1])], KEYS), new Map([['"a"', known]]), batchId('later'));
    expect(texts(later)).toEqual([{ id: 'a', version: 1 }]);
  });
});

describe('a merged answer', () => {
  const three = () => planOf([request('r1', 'a', 'b'), request('r2', 'b', 'c'), request('r3')]);

  it('without results is a success of all requests', () => {
    expect(outcomes(three(), { kind: 'all-succeeded' })).toEqual({ r1: 'succeeded', r2: 'succeeded', r3: 'succeeded' });
  });

  it("by inputs gives each request its inputs' status, failure before retry", () => {
    const error = { code: 'cloudy', message: 'no sight', retriable: false };
    const answer = perKey({ key: 'a', status: 'succeeded' }, { key: 'b', status: 'retry' });
    expect(outcomes(three(), answer)).toEqual({ r1: 'retry', r2: 'retry', r3: 'succeeded' });
    const failing = perKey({ key: 'a', status: 'failed', error }, { key: 'b', status: 'retry' }, { key: 'x' });
    expect(outcomes(three(), failing)).toEqual({ r1: 'failed', r2: 'retry', r3: 'succeeded' });
    const { answer: answered } = perRequest(three(), failing);
    expect(answered).toMatchObject({ foreign: 1 });
    expect(answered.kind === 'results' && answered.items.get(id('r1'))).toEqual({
      status: 'failed',
      error: { ...error, message: 'input "a": no sight' },
    });
  });

  it('by inputs keeps the first result of a key, except for a retry', () => {
    const error = { code: 'cloudy', message: 'no sight', retriable: false };
    const failed = { key: 'a', status: 'failed', error };
    for (const [said, status] of [
      [[{ key: 'a', status: 'succeeded' }, failed], 'succeeded'],
      [[failed, { key: 'a', status: 'succeeded' }], 'failed'],
      [
        [
          { key: 'a', status: 'succeeded' },
          { key: 'a', status: 'retry' },
        ],
        'succeeded',
      ],
      [
        [
          { key: 'a', status: 'retry' },
          { key: 'a', status: 'succeeded' },
        ],
        'succeeded',
      ],
      [[{ key: 'a', status: 'retry' }, failed], 'failed'],
    ] as const)
      expect(outcomes(planOf([request('r', 'a')]), perKey(...said)), JSON.stringify(said)).toEqual({ r: status });
  });

  it('by inputs gives each request the results of its own inputs', () => {
    const answer: Answer = {
      kind: 'all-succeeded',
      inputs:
        '[{"key":"a","status":"succeeded","result":1.50},{"key":"b","status":"succeeded"},{"key":"c","status":"succeeded"}]',
    };
    const { answer: answered } = perRequest(three(), answer);
    expect(answered.kind === 'results' && [answered.items.get(id('r1')), answered.items.get(id('r2'))]).toEqual([
      { status: 'succeeded', result: '{"inputs":[{"key":"a","result":1.50}]}' },
      { status: 'succeeded' },
    ]);
  });

  it('by requests is kept; the inputs of successful requests are processed', () => {
    const items = new Map([[id('r1'), { status: 'succeeded' as const }]]);
    const { answer, done } = perRequest(three(), { kind: 'results', items, foreign: 0 });
    expect(done.map(({ key }) => key)).toEqual(['"a"', '"b"']);
    expect(answer.kind === 'results' && [...answer.items.keys()]).toEqual(['r1', 'r3']);
  });

  it('that failed leaves all undone, except for requests that need no job', () => {
    const unavailable: Answer = { kind: 'unavailable', reason: 'answered 503', mayRetryAtOnce: true };
    for (const answer of [unavailable, { kind: 'all-succeeded', inputs: '{"a":1}' } as const]) {
      const { answer: answered, done } = perRequest(three(), answer);
      expect(answered).toMatchObject({ kind: 'unavailable', settled: new Map([[id('r3'), { status: 'succeeded' }]]) });
      expect(done).toEqual([]);
    }
  });
});

const aKey = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f');
const requests = fc
  .array(fc.array(fc.tuple(aKey, fc.integer({ min: 1, max: 2 })), { maxLength: 5 }), { minLength: 1, maxLength: 8 })
  .map((all) => all.map((inputs, n) => request(`r${n}`, ...inputs)));
const knownOf = fc.array(fc.tuple(aKey, fc.integer({ min: 1, max: 2 })), { maxLength: 4 }).map((all) =>
  all.map(([key, version]): [string, Known] => {
    const [input] = planOf([request('before', [key, version])]).toDo;
    return [key, doneWith(input as never, batchId('before'))];
  }),
);
const status = fc.constantFrom('succeeded', 'failed', 'retry', undefined);
const keysOf = ({ payload }: { payload: string }): string[] =>
  (JSON.parse(payload) as { inputs: { id: string }[] }).inputs.map((each) => each.id);

describe('for any requests,', () => {
  it('the union has each key once; with skipped ones it covers all needs', () =>
    fc.assert(
      fc.property(requests, knownOf, (all, known) => {
        const { toDo, skipped } = planOf(all, known);
        const keys = [...toDo, ...skipped].map(({ key }) => JSON.parse(key) as string);
        expect(keys.toSorted()).toEqual([...new Set(all.flatMap(keysOf))].toSorted());
        const last = new Map(known);
        for (const { key, fingerprint } of toDo)
          expect(last.get(JSON.parse(key))?.marks ?? []).not.toContain(fingerprint);
        for (const { key, fingerprint } of skipped) expect(last.get(JSON.parse(key))?.marks).toContain(fingerprint);
      }),
    ));

  it('a request succeeds exactly if all its keys did', () =>
    fc.assert(
      fc.property(requests, knownOf, fc.dictionary(aKey, status), (all, known, said) => {
        const plan = planOf(all, known);
        const inputs = Object.entries(said).flatMap(([key, each]) => (each ? [{ key, status: each }] : []));
        const { answer, done } = perRequest(plan, perKey(...inputs));
        const skipped = plan.skipped.map(({ key }) => JSON.parse(key) as string);
        const fate = (key: string) => (skipped.includes(key) ? 'succeeded' : (said[key] ?? 'retry'));
        for (const each of all) {
          const fates = keysOf(each).map(fate);
          const expected = fates.includes('failed') ? 'failed' : fates.includes('retry') ? 'retry' : 'succeeded';
          expect(answer.kind === 'results' && answer.items.get(each.id)?.status).toBe(expected);
        }
        expect(done.map(({ key }) => JSON.parse(key) as string)).toEqual(
          plan.toDo.map(({ key }) => JSON.parse(key) as string).filter((key) => said[key] === 'succeeded'),
        );
      }),
    ));
});
