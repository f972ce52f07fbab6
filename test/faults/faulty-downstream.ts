/** A batch API that misbehaves at random, and records its answer for every task. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { add } from '../../bench/meter.ts';
import type { Random } from '../../src/virtual/random.ts';
import { type ReceivedCall, startTestDownstream, type TestDownstream } from '../factories/downstream.ts';
import { cards, shuffled } from './deck.ts';
import type { Ledger, Outcome } from './ledger.ts';

/** Faults of whole calls. */
const CALL_FAULTS = [
  'hangs',
  'resets the connection before it reads',
  'resets the connection after it has read',
  'ends before its Content-Length',
  'answers half a JSON',
  "answers with another batch's ids",
  'answers 200 with a page',
  'answers 503',
  'answers 429 with Retry-After',
] as const;
/** Faults of single items in answered calls. */
const ITEM_FAULTS = ['fails an item', 'asks to retry an item', 'leaves an item out'] as const;
export const DOWNSTREAM_FAULTS: readonly string[] = [...CALL_FAULTS, ...ITEM_FAULTS];

/** Calls and items without a fault, for each round of the faults above. */
const [GOOD_CALLS, GOOD_ITEMS] = [14, 20];
/** Each call takes up to this long (ms), so that kills meet calls under way. */
const WORK = 200;

type CallFault = (typeof CALL_FAULTS)[number];
type Items = ReceivedCall['items'];

export interface FaultyDownstream extends TestDownstream {
  readonly given: Ledger['given'];
  /** The count of each fault and of good answers. */
  readonly done: ReadonlyMap<string, number>;
  /** The fault, or the answer, of a call. */
  answerTo(call: ReceivedCall): string | undefined;
}

export const startFaultyDownstream = async (random: Random): Promise<FaultyDownstream> => {
  const done = new Map<string, number>();
  const answers = new Map<ReceivedCall, string>();
  const draw = shuffled(random, cards(CALL_FAULTS, GOOD_CALLS));
  const drawn = new WeakMap<IncomingMessage, CallFault | undefined>();
  const { given, answer } = answering(random, done);

  const downstream = await startTestDownstream(
    async (call, response) => {
      const fault = drawn.get(response.req);
      answers.set(call, fault ?? 'answers');
      add(done, fault ?? 'answers');
      await setTimeout(random.int(0, WORK));
      const others = downstream.calls.at(random.int(-20, -1))?.items ?? [];
      return fault === undefined ? answer(call) : misbehave(fault, call, response, others);
    },
    {
      refuses: (request) => {
        const fault = draw();
        drawn.set(request, fault);
        if (fault !== 'resets the connection before it reads') return false;
        add(done, fault);
        request.socket.resetAndDestroy();
        return true;
      },
    },
  );
  return { ...downstream, given, done, answerTo: (call) => answers.get(call) };
};

const JSON_TYPE = { 'content-type': 'application/json' };

/** A valid answer in a failing call: none of these results may ever be shown. */
const lies = (items: Items, why: string): string =>
  JSON.stringify({ results: items.map(({ id }) => ({ id, status: 'succeeded', result: { never: why } })) });

const misbehave = (fault: CallFault, { items, batchId }: ReceivedCall, response: ServerResponse, others: Items) => {
  switch (fault) {
    case 'hangs':
      return undefined;
    case 'resets the connection before it reads':
    case 'resets the connection after it has read':
      response.socket?.resetAndDestroy();
      return undefined;
    case 'ends before its Content-Length': {
      const text = lies(items, fault);
      response.writeHead(200, { ...JSON_TYPE, 'content-length': Buffer.byteLength(text) + 100 });
      response.write(text, () => response.destroy());
      return undefined;
    }
    case 'answers half a JSON': {
      const text = lies(items, fault);
      return { status: 200, body: text.slice(0, Math.ceil(text.length / 2)) };
    }
    case "answers with another batch's ids": {
      const asked = new Set(items.map(({ id }) => id));
      const unknown = { id: `of-another-batch-than.${batchId}`, payload: {} };
      return { status: 200, body: lies([...others.filter(({ id }) => !asked.has(id)), unknown], fault) };
    }
    case 'answers 200 with a page':
      return { status: 200, body: '<!doctype html><title>Log in</title>', headers: { 'content-type': 'text/html' } };
    case 'answers 503':
      return { status: 503, body: lies(items, fault) };
    case 'answers 429 with Retry-After':
      return { status: 429, headers: { 'retry-after': '1' } };
  }
};

/** Valid answers: rarely without a body, mostly with a result for each item. No two results are equal. */
const answering = (random: Random, done: Map<string, number>) => {
  const given = new Map<string, Outcome[]>();
  const drawItem = shuffled(random, cards(ITEM_FAULTS, GOOD_ITEMS));
  let said = 0;
  const give = (id: string, outcome: Outcome): Outcome & { readonly id: string } => {
    given.set(id, [...(given.get(id) ?? []), outcome]);
    return { id, ...outcome };
  };
  const resultOf = ({ id, payload }: Items[number]): readonly object[] => {
    const fault = drawItem();
    if (fault !== undefined) add(done, fault);
    said += 1;
    switch (fault) {
      case 'leaves an item out':
        return [];
      case 'asks to retry an item':
        return [{ id, status: 'retry', result: { never: fault } }];
      case 'fails an item': {
        const error = { code: 'lost', message: `answer ${said} about ${id}`, retriable: random.chance(0.5) };
        return [give(id, { status: 'failed', error })];
      }
      case undefined:
        return [give(id, { status: 'succeeded', result: { id, n: payload.n, said } })];
    }
  };
  const answer = ({ items }: ReceivedCall) => {
    if (!random.chance(0.1)) return { status: 200, body: { results: items.flatMap(resultOf) } };
    for (const { id } of items) give(id, { status: 'succeeded' });
    return { status: 200 };
  };
  return { given, answer };
};
