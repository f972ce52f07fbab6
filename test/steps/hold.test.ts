import { expect, it } from 'vitest';
import type { DueMessage } from '../../src/domain/batches/messages.ts';
import { operationFor } from '../../src/domain/config/resolved.ts';
import { type BatchId, batchIdOf, operationOf, type Token } from '../../src/domain/ids.ts';
import { NEW_BUCKET } from '../../src/domain/limits/bucket.ts';
import { bucketsOf, type Counted } from '../../src/domain/limits/limits.ts';
import { lineUnder } from '../../src/domain/limits/line.ts';
import { MINUTE, SECOND } from '../../src/domain/timings.ts';
import { handleBatch } from '../../src/steps/call/handle-batch.ts';
import { finishBatch } from '../../src/steps/lead/finish-batch.ts';
import { aConfig, NOW, token } from '../factories/factories.ts';
import { PLENTY, type StepKit } from './step-kit.ts';
import { kit, led, suite, where } from './step-suite.ts';

suite('a paused batch', () => {
  const pause = { id: 'p', by: 'person', since: 0 } as const;
  const sealed = async (): Promise<BatchId> => {
    await led(2);
    const batchId = batchIdOf(where, 1, 1);
    await finishBatch(kit, where, batchId);
    await kit.operations.pause(operationOf(where), pause);
    kit.sent.batch.length = 0;
    return batchId;
  };
  /** Delivers the messages, and returns the messages that these send; a minute passes. */
  const looked = async (messages: readonly DueMessage[], deps = kit): Promise<readonly DueMessage[]> => {
    kit.sent.batch.length = 0;
    for (const message of messages) await handleBatch(deps, message, PLENTY);
    kit.now += MINUTE;
    return kit.sent.batch.map(({ delay: _, ...message }) => message as DueMessage);
  };

  it('keeps few messages though many are repeated, and resumes afterwards (H1)', async () => {
    const batchId = await sealed();
    let messages: readonly DueMessage[] = [{ kind: 'due', batchId }];
    for (let minute = 0; minute < 120; minute += 1) {
      messages = await looked(messages.flatMap((each) => (minute % 5 === 0 ? [each, each] : [each])));
      expect(messages.length).toBeGreaterThan(0);
      expect(messages.length).toBeLessThanOrEqual(32);
    }
    await kit.operations.resume(operationOf(where), pause.id, NOW);
    await looked(messages);
    expect(await kit.batches.get(batchId)).toMatchObject({ status: 'succeeded', attempt: 1 });
    expect(kit.calls).toHaveLength(1);
  });

  it('keeps few messages while it waits for a call under its rate, far ahead (H1)', async () => {
    const batchId = await sealed();
    await kit.operations.resume(operationOf(where), pause.id, NOW);
    const rated = { ...kit, config: aConfig({ rateLimit: 1 }) };
    const [{ bucket, allows }] = bucketsOf(rated.config, operationFor(rated.config, operationOf(where)), where) as [
      Counted,
    ];
    const line = { ...lineUnder(undefined, allows, kit.now), callsAt: kit.now + 121 * MINUTE };
    await kit.buckets.write(bucket, 0, { ...NEW_BUCKET, line });
    let messages: readonly DueMessage[] = [{ kind: 'due', batchId }];
    for (let minute = 0; minute < 120; minute += 1) {
      messages = await looked(
        messages.flatMap((each) => (minute % 5 === 0 ? [each, each] : [each])),
        rated,
      );
      expect(messages.length).toBeGreaterThan(0);
      expect(messages.length).toBeLessThanOrEqual(32);
    }
    expect(kit.calls).toHaveLength(0);
    kit.now += 2 * MINUTE;
    await looked(messages, rated);
    expect(kit.calls).toHaveLength(1);
  });

  it('keeps few messages during an attempt, or before the next is due (H1)', async () => {
    const batchId = await sealed();
    await kit.operations.resume(operationOf(where), pause.id, NOW);
    const runUntil = kit.now + 120 * MINUTE;
    await kit.batches.start(batchId, {
      attempt: 1,
      countedAttempts: 1,
      uncounted: undefined,
      token: token('other'),
      at: kit.now,
      runUntil,
    });
    let messages: readonly DueMessage[] = [{ kind: 'due', batchId }];
    while (kit.now <= runUntil) {
      const isTwice = (kit.now / MINUTE) % 5 < 1;
      messages = await looked(messages.flatMap((each) => (isTwice ? [each, each] : [each])));
      expect(messages.length).toBeGreaterThan(0);
      expect(messages.length).toBeLessThanOrEqual(32);
    }
    expect(kit.calls).toHaveLength(0);
    await looked(messages);
    expect(kit.calls).toHaveLength(1);
  });

  it('keeps a message if the function dies and SQS deletes the other copy (H1)', async () => {
    const batchId = await sealed();
    const dead = new Error('died');
    const dies = async () => {
      throw dead;
    };
    const [first] = await looked([{ kind: 'due', batchId }]);
    // The second delivery is handled in the next span, by a function that dies before it sends, or before it notes.
    const [second] = await looked([first as DueMessage]);
    kit.now += 15 * MINUTE;
    const cannotSend = { ...kit, queues: { ...kit.queues, batch: dies } };
    await expect(handleBatch(cannotSend, first as DueMessage, PLENTY)).rejects.toBe(dead);
    const [third] = await looked([second as DueMessage]);
    kit.now += 15 * MINUTE;
    const reports: unknown[] = [];
    const cannotNote = {
      ...kit,
      batches: { ...kit.batches, hold: dies },
      report: (event: unknown) => void reports.push(event),
    };
    const [fourth] = await looked([third as DueMessage], cannotNote);
    expect(reports).toContainEqual({ event: 'hold-not-noted', batchId, cause: 'Error: died' });
    kit.now += 15 * MINUTE;
    expect(await looked([third, fourth] as DueMessage[])).toHaveLength(1);
  });

  it('keeps its message though a clock that is far ahead noted it (H1)', async () => {
    const batchId = await sealed();
    let [message] = await looked([{ kind: 'due', batchId }]);
    const [other] = await looked([{ kind: 'due', batchId }]);
    const ahead = { ...kit, machine: { ...kit.machine, now: () => kit.now + 100 * 15 * MINUTE } };
    [message] = await looked([message as DueMessage], ahead);
    [message] = await looked([message as DueMessage], ahead);
    expect(await looked([message as DueMessage, other as DueMessage])).toHaveLength(1);
    kit.now += 15 * MINUTE;
    expect(await looked([message as DueMessage])).toHaveLength(1);
  });

  it('keeps its message though it loses its name or a clock is slow or fast (H1)', async () => {
    for (const ahead of [MINUTE / 2, 40 * MINUTE]) {
      const batchId = await sealed();
      const clock = (off: number) => ({ ...kit, machine: { ...kit.machine, now: () => kit.now + off } });
      kit.now = Math.ceil(kit.now / (15 * MINUTE)) * 15 * MINUTE - MINUTE - SECOND;
      let messages = await looked([{ kind: 'due', batchId }]);
      kit.now -= 59 * SECOND - MINUTE / 2;
      // By this clock a new span has begun, so the message is noted.
      messages = await looked(messages, clock(ahead));
      expect((await kit.batches.get(batchId))?.held?.by).toBe(messages[0]?.held?.by);
      // A message that waits for a reserved moment, or for the end of an attempt, has no name.
      messages = await looked([{ kind: 'due', batchId }], clock(-MINUTE / 2));
      for (let minute = 0; minute < 60; minute += 1) {
        messages = await looked(messages);
        expect(messages, `minute ${minute}`).toHaveLength(1);
      }
      kit.now += 60 * MINUTE;
    }
  });

  it('keeps a message though the note of a nameless message fails (H1)', async () => {
    const batchId = await sealed();
    const [first] = await looked([{ kind: 'due', batchId }]);
    kit.now += 15 * MINUTE;
    const [noted] = await looked([first as DueMessage]);
    const hold = async () => {
      throw new Error('throttled');
    };
    const broken = { ...kit, batches: { ...kit.batches, hold } };
    await expect(handleBatch(broken, { kind: 'due', batchId }, PLENTY)).rejects.toThrow('throttled');
    const [next] = await looked([{ kind: 'due', batchId }]);
    kit.now += 15 * MINUTE;
    expect(await looked([next, noted] as DueMessage[])).toHaveLength(1);
  });

  /** A batch with a noted message that has since lost its name. */
  const noted = async (): Promise<{ batchId: BatchId; by: Token; span: number }> => {
    const batchId = await sealed();
    const messages = await looked([{ kind: 'due', batchId }]);
    kit.now += 15 * MINUTE;
    await looked(messages);
    const { held } = (await kit.batches.get(batchId)) ?? {};
    if (!held) throw new Error('no message is noted');
    kit.sent.batch.length = 0;
    return { batchId, by: held.by, span: held.span };
  };

  it('keeps a message that is handled before its sender notes it (H1)', async () => {
    const { batchId } = await noted();
    let meanwhile: readonly DueMessage[] = [];
    const hold: StepKit['batches']['hold'] = async (...asked) => {
      meanwhile = await looked(kit.sent.batch.splice(0) as readonly DueMessage[]);
      return kit.batches.hold(...asked);
    };
    await handleBatch({ ...kit, batches: { ...kit.batches, hold } }, { kind: 'due', batchId }, PLENTY);
    expect(meanwhile).toHaveLength(1);
    kit.now += 15 * MINUTE;
    expect(await looked(meanwhile)).toHaveLength(1);
  });

  it('gets one more message if another one was noted meanwhile (H1)', async () => {
    const { batchId, by, span } = await noted();
    let isLate = true;
    const hold: StepKit['batches']['hold'] = async (id, next) => {
      if (isLate) await kit.batches.hold(id, { by: token('late'), span, isUncounted: false, after: by });
      isLate = false;
      return kit.batches.hold(id, next);
    };
    await handleBatch({ ...kit, batches: { ...kit.batches, hold } }, { kind: 'due', batchId }, PLENTY);
    const sent = kit.sent.batch.splice(0) as readonly DueMessage[];
    expect(sent).toHaveLength(2);
    expect(await looked(sent)).toHaveLength(1);
    // The AWS client repeated the request.
    const twice: StepKit['batches']['hold'] = async (...asked) =>
      (await kit.batches.hold(...asked)) && kit.batches.hold(...asked);
    kit.sent.batch.length = 0;
    await handleBatch({ ...kit, batches: { ...kit.batches, hold: twice } }, { kind: 'due', batchId }, PLENTY);
    expect(kit.sent.batch).toHaveLength(1);
  });

  it('keeps one message though all its messages are handled at once (H1)', async () => {
    const batchId = await sealed();
    let messages: readonly DueMessage[] = Array.from({ length: 8 }, () => ({ kind: 'due', batchId }));
    for (let minute = 0; minute < 40; minute += 1) {
      kit.sent.batch.length = 0;
      await Promise.all(messages.map((each) => handleBatch(kit, each, PLENTY)));
      messages = kit.sent.batch.map(({ delay: _, ...message }) => message as DueMessage);
      kit.now += MINUTE;
      expect(messages.length).toBeGreaterThan(0);
    }
    expect(messages).toHaveLength(1);
  });

  it('gets at most two messages for each nameless message handled at once (H1)', async () => {
    const { batchId } = await noted();
    await Promise.all(Array.from({ length: 12 }, () => handleBatch(kit, { kind: 'due', batchId }, PLENTY)));
    const sent = kit.sent.batch.splice(0) as readonly DueMessage[];
    expect(sent.length).toBeLessThanOrEqual(24);
    const left = await looked(sent);
    expect(left.length).toBeGreaterThan(0);
    expect(left.length).toBeLessThan(12);
  });

  it('keeps a message that says that an attempt does not count (H1)', async () => {
    const batchId = await sealed();
    const [plain] = await looked([{ kind: 'due', batchId }]);
    const [marked] = await looked([{ kind: 'due', batchId, uncounted: 1 }]);
    kit.now += 15 * MINUTE;
    expect(await looked([plain as DueMessage, marked as DueMessage])).toMatchObject([{ batchId }, { uncounted: 1 }]);
  });

  it.each([
    ['says that an attempt does not count', { uncounted: 1 }],
    ['comes from a span that is far ahead', { held: { by: token('x'), span: Number.MAX_SAFE_INTEGER } }],
  ])('keeps few messages if one %s (H1)', async (_, extra) => {
    const batchId = await sealed();
    let messages: readonly DueMessage[] = [
      { kind: 'due', batchId },
      { kind: 'due', batchId, ...extra },
    ];
    for (let minute = 0; minute < 45; minute += 1) {
      messages = await looked(messages.flatMap((each) => (minute % 5 === 0 ? [each, each] : [each])));
      expect(messages.length).toBeLessThanOrEqual(64);
    }
    if ('uncounted' in extra) expect(messages).toContainEqual(expect.objectContaining(extra));
    await kit.operations.resume(operationOf(where), pause.id, NOW);
    await looked(messages);
  });
});
