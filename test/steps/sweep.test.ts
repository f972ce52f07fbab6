import { expect, it, vi } from 'vitest';
import { printCallback } from '../../src/domain/callbacks/callback.ts';
import { eventOf } from '../../src/domain/callbacks/event.ts';
import { sweep } from '../../src/steps/repair/sweep.ts';
import { aStored, electedIn, NOW } from '../factories/factories.ts';
import type { StepKit } from './step-kit.ts';
import { kit, registered, suite, where } from './step-suite.ts';

suite('the sweep', () => {
  const deadLetter = (body: string, revivals = 0) => ({
    messageId: `letter-${body.length}-${revivals}`,
    body,
    revivals,
    sentAt: NOW,
    firstSentAt: NOW,
    receipt: `receipt-${body}-${revivals}`,
  });
  const invocation = { timeLeft: () => 50_000 };
  /** Each read of the remaining time takes 100 ms. */
  const timeRunning = (left: number) => {
    let rest = left;
    return () => {
      rest -= 100;
      return rest;
    };
  };

  it('sends dead letters again with growing delays, and then deletes them', async () => {
    const body = `{"target":"${where}"}`;
    kit.letters.elect = [0, 1, 5, 9, 20].map((revivals) => deadLetter(body, revivals));
    await sweep(kit, invocation);
    expect(kit.sent.revived.map(({ delay }) => delay)).toEqual([1, 2, 32, 512, 900]);
    expect(kit.letters.elect).toEqual([]);
  });

  it('sends events again for three days, then moves them to the given-up queue', async () => {
    const eventAt = (finishedAt: number) =>
      printCallback({ to: 'ops', event: eventOf(aStored(ended, {}), { ...ended, finishedAt }) });
    const ended = { status: 'succeeded', attempts: 1, finishedAt: NOW } as const;
    const config = { ...kit.config, destinations: { ops: { kind: 'queue', name: 'ops' } } } as const;
    const age = 72 * 3_600_000;
    kit.letters.callback = [deadLetter(eventAt(NOW - age), 20), deadLetter(eventAt(NOW - age - 1), 3)];
    await sweep({ ...kit, config }, { timeLeft: timeRunning(50_000) });
    expect(kit.sent.revived).toMatchObject([{ queue: 'callback', deadLetter: { revivals: 20 }, delay: 900 }]);
    expect(kit.sent.givenUp).toEqual([eventAt(NOW - age - 1)]);
    expect(kit.letters.callback).toEqual([]);
    expect(kit.events).toContainEqual({ event: 'given-up', destination: 'ops', messageId: expect.any(String) });
    expect(kit.sent.rejected).toEqual([]);
  });

  it('reaches a new event behind thousands that an earlier release gave up', async () => {
    const endedAt = (finishedAt: number) => ({ status: 'succeeded', attempts: 1, finishedAt }) as const;
    const eventAt = (at: number) => printCallback({ to: 'ops', event: eventOf(aStored(endedAt(at)), endedAt(at)) });
    const config = { ...kit.config, destinations: { ops: { kind: 'queue', name: 'ops' } } } as const;
    const old = deadLetter(eventAt(NOW - 80 * 3_600_000));
    const lying = Array.from({ length: 1_200 }, (_, n) => ({ ...old, messageId: `${n}`, receipt: `${n}` }));
    // SQS shows each dead letter once within a visibility timeout.
    const receive: StepKit['deadLetters']['receive'] = async (queue) =>
      queue === 'callback' ? lying.splice(0, 10) : [];
    lying.push(deadLetter(eventAt(NOW - 60_000)));
    await sweep({ ...kit, config, deadLetters: { ...kit.deadLetters, receive } }, invocation);
    expect(kit.sent.revived).toMatchObject([{ queue: 'callback', delay: 1 }]);
    expect(kit.sent.givenUp).toHaveLength(1_200);
  });

  it('keeps an event that it cannot move, and then throws', async () => {
    const ended = { status: 'succeeded', attempts: 1, finishedAt: NOW - 80 * 3_600_000 } as const;
    const config = { ...kit.config, destinations: { ops: { kind: 'queue', name: 'ops' } } } as const;
    kit.letters.callback = [deadLetter(printCallback({ to: 'ops', event: eventOf(aStored(ended), ended) }))];
    const queues = { ...kit.queues, giveUp: () => Promise.reject(new Error('throttled')) };
    await expect(sweep({ ...kit, config, queues }, { timeLeft: timeRunning(50_000) })).rejects.toThrow(
      'sweep: AggregateError: dead letters: 1 of the callback queue could not be sent again (throttled)',
    );
    expect(kit.letters.callback).toHaveLength(1);
    expect(kit.events).toContainEqual(expect.objectContaining({ event: 'not-revived', cause: 'Error: throttled' }));
  });

  it('reads no callback dead letters if no destination is configured', async () => {
    kit.letters.callback = [deadLetter('never looked at')];
    await sweep(kit, invocation);
    expect([kit.letters.callback.length, kit.sent.rejected]).toEqual([1, []]);
  });

  it('gives a register message its message id as task id, so it stays one task', async () => {
    kit.letters.register = [deadLetter('{"operation":"ship","payload":{"depot":"MUC"}}')];
    await sweep(kit, invocation);
    expect(kit.sent.revived[0]?.deadLetter.body).toBe(
      `{"id":"letter-46-0","operation":"ship","payload":{"depot":"MUC"}}`,
    );
  });

  it('moves unreadable messages to the rejected queue with the reason', async () => {
    kit.letters.group = [deadLetter('junk')];
    await sweep(kit, invocation);
    expect(kit.sent.revived).toEqual([]);
    expect(kit.sent.rejected).toMatchObject([
      { body: 'junk', problems: [{ reason: expect.stringContaining('group queue') }] },
    ]);
    expect(kit.letters.group).toEqual([]);
  });

  it('leaves a dead letter that it cannot send, sends the others, and then throws', async () => {
    kit.letters.elect = [deadLetter('{"target":"ship/depot=broken"}'), deadLetter(`{"target":"${where}"}`)];
    kit.letters.batch = [deadLetter('{"b":"x#1#1"}')];
    const redrive: StepKit['deadLetters']['redrive'] = async (queue, sent, delay) => {
      if (sent.body.includes('broken')) throw new Error('SQS refuses the message');
      return kit.deadLetters.redrive(queue, sent, delay);
    };
    const deps = { ...kit, deadLetters: { ...kit.deadLetters, redrive } };
    await expect(sweep(deps, { timeLeft: timeRunning(50_000) })).rejects.toThrow(
      'dead letters: 1 of the elect queue could not be sent again (SQS refuses the message)',
    );
    expect(kit.sent.revived.map(({ deadLetter: { body } }) => body).toSorted()).toEqual([
      '{"b":"x#1#1"}',
      `{"target":"${where}"}`,
    ]);
    expect(kit.letters.elect).toHaveLength(1);
    expect(kit.events.find(({ event }) => event === 'not-revived')).toMatchObject({ queue: 'elect' });
  });

  it('goes on with other queues and the patrol if one fails, and then throws', async () => {
    kit.letters.register = [deadLetter('{"operation":"ship","payload":{}}')];
    const receive: StepKit['deadLetters']['receive'] = async (queue) => {
      if (queue === 'elect') throw new Error('AccessDenied');
      return kit.deadLetters.receive(queue);
    };
    const write = vi.fn();
    const broken = {
      ...kit,
      deadLetters: { ...kit.deadLetters, receive },
      patrolMarks: { ...kit.patrolMarks, write },
    };
    await expect(sweep(broken, invocation)).rejects.toThrow('AccessDenied');
    expect(kit.sent.revived).toHaveLength(1);
    expect(write).toHaveBeenCalled();
  });

  it('serves every queue, however many dead letters one has', async () => {
    const receive: StepKit['deadLetters']['receive'] = async (queue) =>
      queue === 'elect' ? [deadLetter(`{"target":"${where}"}`)] : kit.letters[queue];
    kit.letters.register = [deadLetter('{"operation":"ship","payload":{}}')];
    await sweep({ ...kit, deadLetters: { ...kit.deadLetters, receive } }, { timeLeft: timeRunning(50_000) });
    expect(kit.sent.revived.map(({ queue }) => queue)).toEqual(expect.arrayContaining(['elect', 'register']));
  });

  it('rejects a register message that no longer fits into a message', async () => {
    kit.letters.register = [deadLetter(`{"operation":"ship",${' '.repeat(1_000_000)}"payload":{}}`)];
    await sweep(kit, invocation);
    expect(kit.sent.rejected).toMatchObject([
      { problems: [{ reason: expect.stringContaining('more than 1000000 bytes') }] },
    ]);
    expect(kit.letters.register).toEqual([]);
  });

  it('finds tasks without a leader after some time, and not before', async () => {
    await registered(1);
    await kit.locks.skipFence(where, 1, 0, NOW);
    await kit.locks.flush(where, 0);
    kit.sent.elect.length = 0;
    const visit = async (): Promise<boolean> => {
      for (let round = 0; round < 40; round += 1) await sweep(kit, invocation);
      return kit.sent.elect.some((each) => electedIn(each) === where);
    };
    expect(await visit()).toBe(false);
    kit.now = NOW + 10 * 60_000;
    expect(await visit()).toBe(true);
    const repaired = { event: 'repaired', finding: 'stranded', operation: 'ship', target: where, since: NOW };
    expect(kit.events).toContainEqual(repaired);
  });
});
