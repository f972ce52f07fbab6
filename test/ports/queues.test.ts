import { expect, it } from 'vitest';
import { printBatch, printElect, printGroup } from '../../src/domain/batches/messages.ts';
import { parseRejection } from '../../src/domain/register/rejection.ts';
import { CLOCK_SKEW } from '../../src/domain/timings.ts';
import type { DeadLetter } from '../../src/ports/queues.ts';
import type { DeadLetterDeps } from '../../src/steps/deps.ts';
import { listLetters } from '../../src/steps/repair/browse.ts';
import { walkDeadLetters } from '../../src/steps/repair/dead-letters.ts';
import { aConfig, batchId, NOW, target, token } from '../factories/factories.ts';
import { describeEach } from './describe-each.ts';
import { queueKinds } from './queues.ts';

describeEach('queues', queueKinds, (started) => {
  const group = { target: target('ship/depot=MUC'), fence: 1, token: token('t') };

  it('deliver each message to its function', async () => {
    const { queues, received } = started();
    await queues.register(['{"n":1}', '{"n":2}']);
    await queues.elect([{ kind: 'elect', target: group.target }]);
    await queues.group(group, 0);
    await queues.group({ ...group, hint: true }, 0);
    await queues.batch({ kind: 'due', batchId: batchId('b#1#1') }, 0);
    expect((await received('register', 2)).toSorted()).toEqual(['{"n":1}', '{"n":2}']);
    expect(await received('elect', 1)).toEqual([printElect({ kind: 'elect', target: group.target })]);
    expect((await received('group', 2)).toSorted()).toEqual(
      [printGroup(group), printGroup({ ...group, hint: true })].toSorted(),
    );
    expect(await received('batch', 1)).toEqual([printBatch({ kind: 'due', batchId: batchId('b#1#1') })]);
  });

  it('send more messages than fit into one request', async () => {
    const { queues, received } = started();
    const targets = Array.from({ length: 27 }, (_, n) => ({
      kind: 'elect' as const,
      target: target(`ship/depot=${n}`),
    }));
    await queues.elect(targets);
    expect((await received('elect', 27)).toSorted()).toEqual(targets.map(printElect).toSorted());
  });

  it('never deliver a delayed message early', async () => {
    const { queues, received, now } = started();
    const sentAt = now();
    await queues.batch({ kind: 'due', batchId: batchId('later') }, 3);
    expect(await received('batch', 1)).toEqual([printBatch({ kind: 'due', batchId: batchId('later') })]);
    expect(now() - sentAt).toBeGreaterThanOrEqual(3_000);
  });

  it('keep dead letters, and send each again once', async () => {
    const { queues, deadLetters, within, exhaust, now } = started();
    expect(await deadLetters.receive('group')).toEqual([]);
    const before = now();
    await queues.group(group, 0);
    await exhaust('group');
    expect(await within('group', 0.2)).toEqual([]);
    const [deadLetter, ...more] = await deadLetters.receive('group');
    expect([deadLetter?.body, deadLetter?.revivals, more]).toEqual([printGroup(group), 0, []]);
    if (!deadLetter) return;
    expect(deadLetter.sentAt).toBeGreaterThanOrEqual(before - CLOCK_SKEW);
    expect(deadLetter.sentAt).toBeLessThanOrEqual(now() + CLOCK_SKEW);
    expect(deadLetter.firstSentAt).toBe(deadLetter.sentAt);
    const sent = await deadLetters.redrive('group', { ...deadLetter, body: 'a better body' }, 0);
    await deadLetters.remove('group', deadLetter);
    await exhaust('group');
    const [again] = await deadLetters.receive('group');
    expect([again?.body, again?.revivals, again?.messageId]).toEqual(['a better body', 1, sent]);
    expect(again?.firstSentAt).toBe(deadLetter.firstSentAt);
    if (again) await deadLetters.remove('group', again);
    expect(await deadLetters.receive('group')).toEqual([]);
  });

  it('count waiting, in-flight and delayed messages', async () => {
    const { queues, backlogs, hold } = started();
    expect(await backlogs.of('batch')).toEqual({ waiting: 0, inFlight: 0, delayed: 0 });
    for (const delay of [0, 0, 60]) await queues.batch({ kind: 'due', batchId: batchId('backlog') }, delay);
    expect(await backlogs.of('batch')).toEqual({ waiting: 2, inFlight: 0, delayed: 1 });
    await hold('batch');
    expect(await backlogs.of('batch')).toEqual({ waiting: 0, inFlight: 2, delayed: 1 });
  });

  it('count dead letters without receiving any, including received ones', async () => {
    const { queues, deadLetters, exhaust } = started();
    expect(await deadLetters.count('elect')).toBe(0);
    await queues.elect([1, 2].map((n) => ({ kind: 'elect', target: target(`ship/depot=${n}`) })));
    await exhaust('elect');
    expect(await deadLetters.count('elect')).toBe(2);
    const letters = await deadLetters.receive('elect');
    expect([letters.length, await deadLetters.count('elect')]).toEqual([2, 2]);
    for (const deadLetter of letters) await deadLetters.remove('elect', deadLetter);
    expect(await deadLetters.count('elect')).toBe(0);
  });

  it('hide received messages for the given time, and show them after a release', async () => {
    const { queues, deadLetters, exhaust, pass } = started();
    await queues.batch({ kind: 'due', batchId: batchId('hidden') }, 0);
    await exhaust('batch');
    const [deadLetter, ...more] = await deadLetters.receive('batch', 2);
    expect([deadLetter?.body, more]).toEqual([printBatch({ kind: 'due', batchId: batchId('hidden') }), []]);
    expect(await deadLetters.receive('batch', 2)).toEqual([]);
    await pass(2);
    const again = await deadLetters.receive('batch');
    expect(again.map(({ messageId }) => messageId)).toEqual([deadLetter?.messageId]);
    await deadLetters.release('batch', again);
    const [last] = await deadLetters.receive('batch', 5);
    expect(last?.messageId).toBe(deadLetter?.messageId);
    if (last) await deadLetters.remove('batch', last);
    await deadLetters.release('batch', last ? [last] : []);
    await deadLetters.release('batch', []);
    expect(await deadLetters.receive('batch')).toEqual([]);
  });

  it('are listed without a move, a loss or a wait for a later redrive', async () => {
    const { queues, deadLetters, now } = started();
    const first = await deadLetters.count('rejected');
    const bodies = Array.from({ length: 13 }, (_, n) => `{"listed":${n}}`);
    await queues.reject(
      bodies.map((body, n) => ({ messageId: `l-${n}`, body, problems: [{ path: '', reason: 'odd' }], at: NOW })),
    );
    const machine = { now, sleep: async () => {}, within: async <T>(_: number, work: () => Promise<T>) => work() };
    const deps = { deadLetters, machine, report: () => {}, config: aConfig(), queues } as unknown as DeadLetterDeps;
    const bodiesIn = (letters: readonly DeadLetter[]): string[] =>
      letters.map(({ body }) => parseRejection(body)?.body ?? '').filter((body) => body.includes('listed'));
    for (let reads = 0; reads < 8; reads += 1) {
      const { letters, count } = await listLetters(deps, 'rejected', 50);
      expect(bodiesIn(letters).toSorted()).toEqual(bodies.toSorted());
      expect(count).toBe(first + 13);
    }
    // A redrive right after the last list sees every message.
    const seen = await listLetters(deps, 'rejected', 50);
    const walked: DeadLetter[] = [];
    const { revived } = await walkDeadLetters(
      deps,
      'rejected',
      { began: now() + 60_000, mayGoOn: () => true },
      async (each) => {
        walked.push(each);
        await deadLetters.remove('rejected', each);
        return undefined;
      },
    );
    expect([revived, bodiesIn(walked).toSorted()]).toEqual([seen.letters.length, bodies.toSorted()]);
  });

  it('keep rejected messages with their reasons', async () => {
    const { queues, rejected } = started();
    await queues.reject(
      [1, 2].map((n) => ({ messageId: `m-${n}`, body: '{', problems: [{ path: '', reason: 'is not JSON' }], at: NOW })),
    );
    expect((await rejected()).toSorted()).toEqual(['m-1', 'm-2']);
  });

  it('let a rejected message be removed after it was sent again', async () => {
    const { queues, deadLetters, received } = started();
    const before = await deadLetters.count('rejected');
    await queues.reject([{ messageId: 'm-3', body: '{"n":3}', problems: [], at: NOW }]);
    expect(await deadLetters.count('rejected')).toBe(before + 1);
    const letters = await deadLetters.receive('rejected');
    const deadLetter = letters.find(({ body }) => parseRejection(body)?.messageId === 'm-3');
    if (!deadLetter) throw new Error(`m-3 is not among ${JSON.stringify(letters)}`);
    await deadLetters.redrive('register', { ...deadLetter, body: '{"n":3}' }, 0);
    await deadLetters.remove('rejected', deadLetter);
    expect(await received('register', 1)).toEqual(['{"n":3}']);
    expect(await deadLetters.count('rejected')).toBe(before);
  });
});
