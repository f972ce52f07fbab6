import { beforeEach, describe, expect, it } from 'vitest';
import { api } from '../../src/api/app.ts';
import type { DeadLetter } from '../../src/ports/queues.ts';
import { memoryStores } from '../ports/stores.ts';
import { type StepKit, stepKit } from '../steps/step-kit.ts';
import { deadLetter, refused } from '../steps/step-suite.ts';

/** The most that Lambda answers. */
const ANSWER_MAX_BYTES = 6 * 1_024 * 1_024;

interface Answer {
  readonly redriven: number;
  readonly skipped: readonly { readonly id: string; readonly reason: string }[];
  readonly cursor?: string;
}

describe('the redrive of dead letters', () => {
  let kit: StepKit;
  beforeEach(async () => {
    kit = stepKit(memoryStores());
  });

  const ask = async (queue: string, deps: Partial<StepKit['deadLetters']>, body: object = {}) => {
    const onError = (cause: unknown) => {
      throw cause;
    };
    const app = api({ ...kit, deadLetters: { ...kit.deadLetters, ...deps }, newId: () => 'new', onError });
    const response = await app.request(`/v1/dead-letters/${queue}/redrive`, {
      method: 'POST',
      body: JSON.stringify(body),
    });
    const text = await response.text();
    return { status: response.status, text, answer: JSON.parse(text) as Answer };
  };

  /** A receive hides its messages for longer than a request takes. */
  const hiding = (letters: DeadLetter[]) => ({ receive: async () => letters.splice(0, 10) });

  it('limits its answer; the cursor continues with the rest', async () => {
    const fields = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`${n}${'\u0001'.repeat(200)}`, n]));
    const body = JSON.stringify({ operation: '"'.repeat(200), payload: {}, ...fields });
    const letters = hiding(Array.from({ length: 500 }, (_, n) => refused(body, n)));
    const ids = new Set<string>();
    for (let cursor: string | undefined, requests = 1; ; requests += 1) {
      const { status, text, answer } = await ask('rejected', letters, { cursor });
      // Lambda's answer contains the body as a JSON string.
      expect(Buffer.byteLength(JSON.stringify({ body: text }))).toBeLessThan(ANSWER_MAX_BYTES);
      expect([status, answer.redriven]).toEqual([202, 0]);
      for (const { id } of answer.skipped) ids.add(id);
      cursor = answer.cursor;
      if (cursor === undefined) {
        expect([ids.size, requests]).toEqual([500, 3]);
        return;
      }
    }
  });

  it('stops after ten seconds; the cursor continues with older ones', async () => {
    const elect = '{"target":"ship/depot=MUC"}';
    const letters = Array.from({ length: 30 }, (_, n) => deadLetter(elect, n));
    const receive = async () => {
      kit.now += 4_000;
      return letters.splice(0, 10);
    };
    const { answer } = await ask('elect', { receive });
    expect(answer).toMatchObject({ redriven: 30, cursor: expect.any(String) });
    letters.push(deadLetter(elect, 30), { ...deadLetter(elect, 31), sentAt: kit.now + 40_000 });
    kit.now += 60_000;
    const next = await ask('elect', { receive }, { cursor: answer.cursor });
    expect(next.answer).toEqual({ redriven: 1, skipped: [], left: 0 });
  });

  it('accepts only its own cursors', async () => {
    for (const cursor of ['', 'x', '-1', '1.5', '1'.repeat(16), 7, null])
      expect([cursor, (await ask('elect', {}, { cursor })).status]).toEqual([cursor, 400]);
  });
});
