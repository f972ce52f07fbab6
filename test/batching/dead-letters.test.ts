import { expect, it } from 'vitest';
import { type HowToRevive, reviveAll } from '../../src/batching/dead-letters.ts';
import { printRejection } from '../../src/batching/rejection.ts';
import type { LetterQueue } from '../../src/ports.ts';
import { NOW } from '../factories/factories.ts';
import type { StepKit } from './step-kit.ts';
import { depot, kit, suite, where } from './step-suite.ts';

const NOW_AND_ALL: HowToRevive = { delayOf: () => 0, mayGoOn: () => true };

const letter = (body: string, n = 0) => ({ messageId: `letter-${n}`, body, revivals: n, receipt: `receipt-${n}` });

/** Refused once, with the body that it had. */
const refused = (body: string, n = 0) =>
  letter(printRejection({ messageId: `refused-${n}`, body, problems: [{ path: '', reason: 'odd' }], at: NOW }), n);

suite('dead letters that somebody asks for', () => {
  const task = (fields: object = {}) => JSON.stringify({ operation: 'ship', payload: { depot }, ...fields });
  const revive = (queue: LetterQueue, deps: Partial<StepKit> = {}, how = NOW_AND_ALL) =>
    reviveAll({ ...kit, ...deps }, queue, how);

  it('are sent again at once, all of them, and are gone', async () => {
    kit.letters.elect = Array.from({ length: 23 }, (_, n) => letter(`{"target":"${where}"}`, n));
    expect(await revive('elect')).toEqual({ revived: 23, left: [] });
    expect(kit.sent.revived.map(({ delay }) => delay)).toEqual(Array.from({ length: 23 }, () => 0));
    expect(kit.letters.elect).toEqual([]);
    expect(kit.events.filter(({ event }) => event === 'revived')).toHaveLength(23);
  });

  it('are none the second time', async () => {
    kit.letters.batch = [letter('{"b":"x#1#1"}')];
    expect(await revive('batch')).toEqual({ revived: 1, left: [] });
    expect(await revive('batch')).toEqual({ revived: 0, left: [] });
    expect(kit.sent.revived).toHaveLength(1);
  });

  it('are no more than there is time for', async () => {
    kit.letters.elect = Array.from({ length: 25 }, (_, n) => letter(`{"target":"${where}"}`, n));
    let looks = 0;
    const mayGoOn = (): boolean => {
      looks += 1;
      return looks <= 2;
    };
    expect((await revive('elect', {}, { ...NOW_AND_ALL, mayGoOn })).revived).toBe(20);
    expect(kit.letters.elect).toHaveLength(5);
  });

  it('are named with the reason where they cannot be sent, and stop nobody', async () => {
    kit.letters.group = [letter('junk'), letter(`{"target":"${where}","f":1,"token":"t"}`, 1)];
    const broken: StepKit['deadLetters'] = { ...kit.deadLetters, revive: () => Promise.reject(new Error('closed')) };
    expect(await revive('group', { deadLetters: broken })).toEqual({
      revived: 0,
      left: [
        {
          id: 'letter-0',
          reason: expect.stringMatching(/^group queue: not a message.* lies in the rejected queue now$/),
        },
        { id: 'letter-1', reason: 'closed' },
      ],
    });
    expect([kit.sent.rejected.length, kit.letters.group.length]).toEqual([1, 1]);
  });

  it('go back to the register queue where they were refused and would not be any more, under the id that they had', async () => {
    kit.letters.rejected = [refused(task()), refused(task({ id: 'its-own' }), 1), refused('{"id":"t","run":1}', 2)];
    expect(await revive('rejected')).toEqual({ revived: 3, left: [] });
    expect(kit.sent.revived.map(({ queue, letter: { body } }) => [queue, body])).toEqual([
      ['register', `{"id":"refused-0",${task().slice(1)}`],
      ['register', task({ id: 'its-own' })],
      ['register', '{"id":"t","run":1}'],
    ]);
    expect(kit.letters.rejected).toEqual([]);
    expect(kit.events).toContainEqual(expect.objectContaining({ event: 'revived', queue: 'rejected' }));
  });

  it('stay where they are where they would be refused again, or were not kept whole', async () => {
    kit.letters.rejected = [
      refused('{"operation":"none","payload":{}}'),
      refused('x'.repeat(1_100_000), 1),
      letter('{"written":"by hand"}', 2),
      refused(`{"operation":"ship",${' '.repeat(1_000_000)}"payload":{"depot":"X"}}`, 3),
    ];
    const { revived, left } = await revive('rejected');
    expect([revived, left.map(({ reason }) => reason)]).toEqual([
      0,
      [
        expect.stringMatching(/^it would be refused again: operation is unknown: "none"/),
        expect.stringMatching(/too large to be kept whole/),
        expect.stringMatching(/^not a message that Groupage refused/),
        expect.stringMatching(/more than 1000000 bytes/),
      ],
    ]);
    expect([kit.letters.rejected.length, kit.sent.revived, kit.sent.rejected]).toEqual([4, [], []]);
  });
});
