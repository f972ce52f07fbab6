import { expect, it } from 'vitest';
import { isGivenUp } from '../../src/domain/callbacks/callback.ts';
import type { SourceQueue } from '../../src/ports/queues.ts';
import { redriveDeadLetterQueue } from '../../src/steps/repair/dead-letters.ts';
import { NOW } from '../factories/factories.ts';
import type { StepKit } from './step-kit.ts';
import { deadLetter, kit, suite, where } from './step-suite.ts';

suite('an on-demand redrive', () => {
  const redrive = (queue: SourceQueue, deps: Partial<StepKit['deadLetters']> = {}, mayGoOn = () => true) =>
    redriveDeadLetterQueue(
      { ...kit, deadLetters: { ...kit.deadLetters, ...deps } },
      queue,
      { began: NOW, mayGoOn },
      () => 0,
    );

  it('sends all dead letters of the queue again at once and removes them', async () => {
    kit.letters.elect = Array.from({ length: 23 }, (_, n) => deadLetter(`{"target":"${where}"}`, n));
    expect(await redrive('elect')).toEqual({ revived: 23, skipped: [], failures: [], isDone: true });
    expect(kit.sent.revived.map(({ delay }) => delay)).toEqual(Array.from({ length: 23 }, () => 0));
    expect(kit.letters.elect).toEqual([]);
    expect(kit.events.filter(({ event }) => event === 'revived')).toHaveLength(23);
  });

  it('finds nothing the second time', async () => {
    kit.letters.batch = [deadLetter('{"b":"x#1#1"}')];
    expect(await redrive('batch')).toEqual({ revived: 1, skipped: [], failures: [], isDone: true });
    expect(await redrive('batch')).toEqual({ revived: 0, skipped: [], failures: [], isDone: true });
    expect(kit.sent.revived).toHaveLength(1);
  });

  it('stops when its time is over', async () => {
    kit.letters.elect = Array.from({ length: 25 }, (_, n) => deadLetter(`{"target":"${where}"}`, n));
    let looks = 0;
    const mayGoOn = (): boolean => {
      looks += 1;
      return looks <= 2;
    };
    expect(await redrive('elect', {}, mayGoOn)).toMatchObject({ revived: 20, isDone: false });
    expect(kit.letters.elect).toHaveLength(5);
  });

  it('skips dead letters that arrived after it began and reaches older ones', async () => {
    const elect = `{"target":"${where}"}`;
    const later = Array.from({ length: 10 }, (_, n) => ({ ...deadLetter(elect, n), sentAt: NOW + 60_000 }));
    const waiting = [...later, deadLetter(elect, 10)];
    // A received message is invisible for a while.
    const receive = async () => waiting.splice(0, 10);
    expect(await redrive('elect', { receive })).toEqual({ revived: 1, skipped: [], failures: [], isDone: true });
    expect(kit.sent.revived.map((each) => each.deadLetter.messageId)).toEqual(['letter-10']);
  });

  it('lists dead letters that it cannot send, with the reason, and goes on', async () => {
    kit.letters.group = [deadLetter('junk'), deadLetter(`{"target":"${where}","f":1,"token":"t"}`, 1)];
    expect(await redrive('group', { redrive: () => Promise.reject(new Error('closed')) })).toEqual({
      revived: 0,
      skipped: [
        {
          id: 'letter-0',
          reason: expect.stringMatching(/^group queue: not a message.* is in the rejected queue now$/),
        },
        { id: 'letter-1', reason: 'closed' },
      ],
      failures: [new Error('closed')],
      isDone: true,
    });
    expect([kit.sent.rejected.length, kit.letters.group.length]).toEqual([1, 1]);
  });

  it('sends dead letters of a later release again and never rejects them', async () => {
    kit.letters.group = [deadLetter(`{"v":2,"target":"${where}"}`)];
    expect(await redrive('group')).toEqual({ revived: 1, skipped: [], failures: [], isDone: true });
    expect(kit.sent.rejected).toEqual([]);
    expect(isGivenUp('{"v":2}', NOW)).toBe(false);
  });

  it('reports a dead letter that it cannot remove, and sends it again later', async () => {
    kit.letters.elect = [deadLetter(`{"target":"${where}"}`)];
    const remove = () => Promise.reject(new Error('throttled'));
    expect(await redrive('elect', { remove })).toEqual({ revived: 1, skipped: [], failures: [], isDone: true });
    expect(kit.events.map(({ event }) => event)).toEqual(['revived', 'not-removed']);
    expect(await redrive('elect')).toMatchObject({ revived: 1 });
  });
});
