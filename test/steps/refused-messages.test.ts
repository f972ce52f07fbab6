import { expect, it } from 'vitest';
import { printCallback } from '../../src/domain/callbacks/callback.ts';
import { eventOf } from '../../src/domain/callbacks/event.ts';
import { printRedrive } from '../../src/domain/register/redrive-message.ts';
import { printRejection } from '../../src/domain/register/rejection.ts';
import { register } from '../../src/steps/register/register.ts';
import { redriveRefused } from '../../src/steps/repair/refused-messages.ts';
import { aStored, id, NOW } from '../factories/factories.ts';
import type { StepKit } from './step-kit.ts';
import { deadLetter, depot, kit, refused, suite } from './step-suite.ts';

suite('a redrive of rejections', () => {
  const task = (fields: object = {}) => JSON.stringify({ operation: 'ship', payload: { depot }, ...fields });
  const redrive = (deps: Partial<StepKit> = {}) => {
    let looks = 0;
    const mayGoOn = (): boolean => {
      looks += 1;
      return looks <= 20;
    };
    return redriveRefused({ ...kit, ...deps }, { began: NOW, mayGoOn });
  };

  /** As if the register function worked at once: a message that it rejects lies in the rejected queue again. */
  const withRegister = (): Partial<StepKit> => {
    const reject: StepKit['queues']['reject'] = async (rejections) => {
      for (const each of rejections)
        kit.letters.rejected.push(deadLetter(printRejection(each), kit.letters.rejected.length + 1_000));
    };
    const deps = { ...kit, queues: { ...kit.queues, reject } };
    const sendAndRegister: StepKit['deadLetters']['redrive'] = async (queue, sent, delay) => {
      const messageId = await kit.deadLetters.redrive(queue, sent, delay);
      await register(deps, [{ messageId, body: sent.body }]);
      return messageId;
    };
    return { deadLetters: { ...kit.deadLetters, redrive: sendAndRegister } };
  };

  it('sends valid messages to the register queue with their original id', async () => {
    kit.letters.rejected = [refused(task()), refused(task({ id: 'its-own' }), 1), refused('{"id":"t","run":1}', 2)];
    expect(await redrive()).toEqual({ revived: 3, skipped: [], failures: [], isDone: true });
    expect(kit.sent.revived.map(({ queue, deadLetter: { body } }) => [queue, body])).toEqual([
      ['register', `{"id":"refused-0",${task().slice(1)}`],
      ['register', task({ id: 'its-own' })],
      ['register', '{"id":"t","run":1}'],
    ]);
    expect(kit.letters.rejected).toEqual([]);
    expect(kit.events).toContainEqual(expect.objectContaining({ event: 'revived', queue: 'rejected' }));
  });

  it('sends events whose destination is configured now again', async () => {
    const ended = { status: 'succeeded', attempts: 1, finishedAt: NOW } as const;
    const eventTo = (to: string): string => printCallback({ to, event: eventOf(aStored(ended), ended) });
    const lying = (body: string, n: number, from: { readonly queue?: 'callback' } = { queue: 'callback' }) =>
      deadLetter(printRejection({ messageId: `m-${n}`, body, problems: [], at: NOW, ...from }), n);
    const config = { ...kit.config, destinations: { ops: { kind: 'queue', name: 'ops' } } } as const;
    // A producer sent the last one to the register queue, to have a callback sent in Groupage's name.
    kit.letters.rejected = [lying(eventTo('ops'), 0), lying(eventTo('gone'), 1), lying(eventTo('ops'), 2, {})];
    const { revived, skipped } = await redrive({ config });
    expect([revived, kit.sent.revived]).toMatchObject([
      1,
      [{ queue: 'callback', deadLetter: { body: eventTo('ops') } }],
    ]);
    expect(skipped).toEqual([
      { id: 'letter-1', reason: expect.stringMatching(/^it would be rejected again: to is no configured.*"gone"/) },
      { id: 'letter-2', reason: expect.stringMatching(/^it would be rejected again: .*register message/) },
    ]);
    expect(kit.letters.rejected.map(({ messageId }) => messageId)).toEqual(['letter-1', 'letter-2']);
  });

  it('leaves messages that would be rejected again or were cut off', async () => {
    kit.letters.rejected = [
      refused('{"operation":"none","payload":{}}'),
      refused('x'.repeat(1_100_000), 1),
      deadLetter('{"written":"by hand"}', 2),
      refused(`{"operation":"ship",${' '.repeat(1_000_000)}"payload":{"depot":"X"}}`, 3),
      refused('{"batchId":"ship/depot=X#1#1","results":{}}', 4),
    ];
    const { revived, skipped } = await redrive();
    expect([revived, skipped.map(({ reason }) => reason)]).toEqual([
      0,
      [
        expect.stringMatching(/^it would be rejected again: operation is unknown: "none"/),
        expect.stringMatching(/too large to be stored whole/),
        expect.stringMatching(/^not a message that Groupage rejected/),
        expect.stringMatching(/^it would be rejected again: has 10000\d\d bytes/),
        expect.stringMatching(/^it is a job's report, not a task/),
      ],
    ]);
    expect([kit.letters.rejected.length, kit.sent.revived, kit.sent.rejected]).toEqual([5, [], []]);
  });

  it('lists messages that are rejected again because of stored data', async () => {
    const taken = `${depot}-taken`;
    await register(kit, [{ messageId: 'first', body: task({ id: taken }) }]);
    const other = task({ id: taken, payload: { depot, other: true } });
    kit.letters.rejected = [refused(other), refused(printRedrive({ id: id(`${depot}-expired`), run: 1 }), 1)];
    const { revived, skipped } = await redrive(withRegister());
    expect([revived, kit.sent.revived.length, kit.letters.rejected.length]).toEqual([0, 2, 2]);
    expect(skipped.map(({ reason }) => reason).toSorted()).toEqual([
      expect.stringMatching(/^it was sent and rejected again: id \S+-taken was registered before with another/),
      expect.stringMatching(/^it was sent and rejected again: id there is no task \S+-expired/),
    ]);
  });

  it('lists a message with its first twenty problems', async () => {
    const fields = Object.fromEntries(Array.from({ length: 45_000 }, (_, n) => [n.toString(36), 1]));
    kit.letters.rejected = [refused(task(fields))];
    const { skipped } = await redrive();
    expect(skipped[0]?.reason).toMatch(/; and 44980 more$/);
    expect(skipped[0]?.reason.length).toBeLessThan(2_000);
  });
});
