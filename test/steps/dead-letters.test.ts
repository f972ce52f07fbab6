import { expect, it } from 'vitest';
import { isGivenUp } from '../../src/domain/callbacks/callback.ts';
import type { SourceQueue } from '../../src/ports/queues.ts';
import { reviveDeadLetters } from '../../src/steps/repair/dead-letters.ts';
import { NOW } from '../factories/factories.ts';
import type { StepKit } from './step-kit.ts';
import { kit, letter, suite, where } from './step-suite.ts';

suite('dead letters that somebody asks for', () => {
  const revive = (queue: SourceQueue, deps: Partial<StepKit['deadLetters']> = {}, mayGoOn = () => true) =>
    reviveDeadLetters(
      { ...kit, deadLetters: { ...kit.deadLetters, ...deps } },
      queue,
      { began: NOW, mayGoOn },
      () => 0,
    );

  it('are sent again at once, all of them, and are gone', async () => {
    kit.letters.elect = Array.from({ length: 23 }, (_, n) => letter(`{"target":"${where}"}`, n));
    expect(await revive('elect')).toEqual({ revived: 23, skipped: [], isDone: true });
    expect(kit.sent.revived.map(({ delay }) => delay)).toEqual(Array.from({ length: 23 }, () => 0));
    expect(kit.letters.elect).toEqual([]);
    expect(kit.events.filter(({ event }) => event === 'revived')).toHaveLength(23);
  });

  it('are none the second time', async () => {
    kit.letters.batch = [letter('{"b":"x#1#1"}')];
    expect(await revive('batch')).toEqual({ revived: 1, skipped: [], isDone: true });
    expect(await revive('batch')).toEqual({ revived: 0, skipped: [], isDone: true });
    expect(kit.sent.revived).toHaveLength(1);
  });

  it('are no more than there is time for', async () => {
    kit.letters.elect = Array.from({ length: 25 }, (_, n) => letter(`{"target":"${where}"}`, n));
    let looks = 0;
    const mayGoOn = (): boolean => {
      looks += 1;
      return looks <= 2;
    };
    expect(await revive('elect', {}, mayGoOn)).toMatchObject({ revived: 20, isDone: false });
    expect(kit.letters.elect).toHaveLength(5);
  });

  it('that were sent after somebody asked have their turn another time, but keep no older one waiting', async () => {
    const elect = `{"target":"${where}"}`;
    const later = Array.from({ length: 10 }, (_, n) => ({ ...letter(elect, n), sentAt: NOW + 60_000 }));
    const waiting = [...later, letter(elect, 10)];
    // What was received is hidden for a while.
    const receive = async () => waiting.splice(0, 10);
    expect(await revive('elect', { receive })).toEqual({ revived: 1, skipped: [], isDone: true });
    expect(kit.sent.revived.map((each) => each.letter.messageId)).toEqual(['letter-10']);
  });

  it('are named with the reason where they cannot be sent, and stop nobody', async () => {
    kit.letters.group = [letter('junk'), letter(`{"target":"${where}","f":1,"token":"t"}`, 1)];
    expect(await revive('group', { revive: () => Promise.reject(new Error('closed')) })).toEqual({
      revived: 0,
      skipped: [
        {
          id: 'letter-0',
          reason: expect.stringMatching(/^group queue: not a message.* lies in the rejected queue now$/),
        },
        { id: 'letter-1', reason: 'closed' },
      ],
      isDone: true,
    });
    expect([kit.sent.rejected.length, kit.letters.group.length]).toEqual([1, 1]);
  });

  it('of a form that a later release brought are sent again until it is back, and never refused', async () => {
    kit.letters.group = [letter(`{"v":2,"target":"${where}"}`)];
    expect(await revive('group')).toEqual({ revived: 1, skipped: [], isDone: true });
    expect(kit.sent.rejected).toEqual([]);
    expect(isGivenUp('{"v":2}', NOW)).toBe(false);
  });

  it('were sent, also where they could not be taken out afterwards: that is said, and they come once more', async () => {
    kit.letters.elect = [letter(`{"target":"${where}"}`)];
    const remove = () => Promise.reject(new Error('throttled'));
    expect(await revive('elect', { remove })).toEqual({ revived: 1, skipped: [], isDone: true });
    expect(kit.events.map(({ event }) => event)).toEqual(['revived', 'not-removed']);
    expect(await revive('elect')).toMatchObject({ revived: 1 });
  });
});
