/** What producers may do by message: each power with the right and without it. */
import { expect, it } from 'vitest';
import { type FanOutId, fanOutId } from '../../src/domain/fan-out-ids.ts';
import { sentItemId } from '../../src/domain/fan-outs/item-token.ts';
import type { TaskId } from '../../src/domain/ids.ts';
import { listId, trackerOf } from '../../src/domain/lists/ids.ts';
import { DEFAULT_RULES, type ProducerRules } from '../../src/domain/producers/rules.ts';
import { type Sender, UNKNOWN_SENDER } from '../../src/domain/producers/sender.ts';
import { printRedrive } from '../../src/domain/register/redrive-message.ts';
import type { RegisterMessage } from '../../src/domain/register/register-message.ts';
import { parseRejection, printRejection } from '../../src/domain/register/rejection.ts';
import { addItems } from '../../src/steps/fan-outs/add-items.ts';
import { rememberedItemKeys } from '../../src/steps/fan-outs/item-keys.ts';
import { electLeader } from '../../src/steps/lead/elect-leader.ts';
import { group } from '../../src/steps/lead/group.ts';
import { append } from '../../src/steps/lists/append.ts';
import { trigger } from '../../src/steps/lists/trigger.ts';
import { register } from '../../src/steps/register/register.ts';
import { redriveDeadLetterQueue } from '../../src/steps/repair/dead-letters.ts';
import { redriveRefused } from '../../src/steps/repair/refused-messages.ts';
import { cancel } from '../../src/steps/tasks/settle.ts';
import { id, NOW, operationName, token } from '../factories/factories.ts';
import { PLENTY, type StepKit } from './step-kit.ts';
import { deadLetter, depot, guard, kit, kitWith, message, suite } from './step-suite.ts';

const SHOP: Sender = { id: 'AROASHOP', via: 'queue' };
const OTHER: Sender = { id: 'AROAOTHER', via: 'queue' };
const CALLER: Sender = { id: 'AROACALLER', via: 'api' };
const KEY = 'the key of the items';

/** The kit with rules for the operation, and `shop` as the name of {@link SHOP}. */
const ruled = (rules: Partial<ProducerRules> = {}): StepKit => ({
  ...kitWith({ producers: { ...DEFAULT_RULES, ...rules } }),
  powers: { ...kit.powers, producers: { shop: [SHOP.id] } },
});
const from = (sender: Sender, n: number, extra: object = {}): RegisterMessage => ({ ...message(n, extra), sender });
const task = (n: number) => kit.tasks.get(id(`${depot}-${n}`));
const problems = () => kit.sent.rejected.map((each) => each.problems.map(({ path }) => path));
const broken = () => kit.events.filter(({ event }) => event === 'rule-broken');

suite('the power to send', () => {
  it('is refused to others, and their messages are kept with the reason', async () => {
    await register(ruled({ send: ['shop'] }), [from(OTHER, 0), from(SHOP, 1), from(CALLER, 2)]);
    expect(problems()).toEqual([['operation'], ['operation']]);
    expect(kit.sent.rejected[0]).toMatchObject({ sender: OTHER, body: message(0).body });
    expect([await task(0), await task(2)]).toEqual([undefined, undefined]);
  });

  it('is given to a named sender, and to any sender by default', async () => {
    await register(ruled({ send: ['shop'] }), [from(SHOP, 0)]);
    await register(ruled(), [from(OTHER, 1)]);
    expect(kit.sent.rejected).toEqual([]);
    expect([(await task(0))?.id, (await task(1))?.id]).toEqual([`${depot}-0`, `${depot}-1`]);
  });

  it('is not lent by a list: a sender without it may not trigger its jobs', async () => {
    const deps = ruled({ send: ['shop'] });
    const list = listId(`l-${depot}`) as never;
    await kit.lists.open({ id: trackerOf(list), createdAt: NOW, operation: 'ship' }, NOW + 120_000);
    await append(kit, list, [JSON.stringify({ depot })], token('add'));
    await trigger(deps, list, { count: 1 }, token('t'), OTHER);
    expect(kit.sent.senders).toEqual([OTHER]);
    const body = kit.sent.registered.join();
    await register(deps, [{ messageId: 'm', body, sender: OTHER }]);
    expect(problems()).toEqual([['list']]);
    await register(deps, [{ messageId: 'm', body, sender: SHOP }]);
    expect(await kit.tasks.get(`${list}:0` as TaskId)).toMatchObject({ operation: 'ship' });
  });
});

suite('the power to coalesce', () => {
  const superseded = async (deps: StepKit, ...senders: readonly Sender[]) => {
    await register(
      deps,
      senders.map((sender, n) => ({ ...from(sender, n, { coalesceKey: 'k' }), sentAt: NOW + n })),
    );
    await electLeader(deps, { kind: 'elect', target: guard().target });
    await group(deps, guard(), PLENTY);
    const all = await Promise.all(senders.map((_, n) => task(n)));
    return all.map((each) => each?.state.status === 'succeeded');
  };

  it("does not reach other senders' tasks by default", async () => {
    expect(await superseded(ruled(), SHOP, OTHER, OTHER)).toEqual([false, true, false]);
    expect(broken()).toEqual([]);
  });

  it('reaches the tasks of all senders with "any"', async () => {
    expect(await superseded(ruled({ coalesce: 'any' }), SHOP, OTHER)).toEqual([true, false]);
    expect(kit.sent.rejected).toEqual([]);
  });

  it('separates named senders from the others', async () => {
    const deps = {
      ...ruled({ coalesce: ['shop'] }),
      powers: { ...kit.powers, producers: { shop: [SHOP.id, CALLER.id] } },
    };
    expect(await superseded(deps, SHOP, CALLER, OTHER)).toEqual([true, false, false]);
  });

  it('stays as before in a stage that warns, and is reported', async () => {
    kit.mode = 'warn';
    expect(await superseded(ruled(), SHOP, OTHER)).toEqual([true, false]);
    expect(broken()).toEqual([
      { event: 'rule-broken', rule: 'coalesce', operation: 'ship', messages: 1, senders: [OTHER.id] },
    ]);
  });
});

suite('the power to redrive', () => {
  const failed = async (): Promise<TaskId> => {
    await register(ruled(), [from(SHOP, 0)]);
    await cancel(kit, id(`${depot}-0`));
    return id(`${depot}-0`);
  };
  const run = (task: TaskId, sender: Sender): RegisterMessage => ({
    messageId: `${depot}-run`,
    body: printRedrive({ id: task, run: 1 }),
    sender,
  });

  it('is refused to producers, even for their own tasks', async () => {
    const name = await failed();
    await register(ruled(), [run(name, SHOP), run(name, OTHER)]);
    expect(problems()).toEqual([['run'], ['run']]);
    expect((await kit.tasks.get(name))?.state.status).toBe('failed');
  });

  it('is given to callers of the API and to named producers', async () => {
    const name = await failed();
    await register(ruled(), [run(name, CALLER)]);
    expect((await kit.tasks.get(name))?.state.status).toBe('created');
    await cancel(kit, name);
    await register(ruled({ redrive: ['shop'] }), [{ ...run(name, SHOP), body: printRedrive({ id: name, run: 2 }) }]);
    expect((await kit.tasks.get(name))?.state.status).toBe('created');
    expect(kit.sent.rejected).toEqual([]);
  });

  it('stays as before in a stage that warns, and each use is reported', async () => {
    const name = await failed();
    kit.mode = 'warn';
    await register(ruled(), [run(name, OTHER)]);
    expect((await kit.tasks.get(name))?.state.status).toBe('created');
    expect(broken()).toEqual([
      { event: 'rule-broken', rule: 'redrive', operation: 'ship', messages: 1, senders: [OTHER.id] },
    ]);
  });
});

suite('the power to acknowledge', () => {
  const opened = async (itemKey: string | undefined = KEY): Promise<FanOutId> => {
    const fanOut = fanOutId(`f-${depot}`) as FanOutId;
    const key = itemKey === '' ? {} : { itemKey };
    await kit.fanOuts.open({ id: fanOut, createdAt: NOW, ...key } as never, NOW + 120_000);
    await addItems(kit, fanOut, 4, token('add-1'));
    return fanOut;
  };
  const item = (fanOut: FanOutId, index = 0, key: string | undefined = KEY) => ({
    fanOutItem: sentItemId(key, { fanOut, group: 0, index }),
  });
  const bare = (fanOut: FanOutId, index = 0) => ({ fanOutItem: `${fanOut}:0:${index}` });
  const slot = async (fanOut: FanOutId) => (await kit.fanOuts.node(fanOut, { level: 0, n: 0 }))?.slots[0];

  it('needs the token of the item; the token is not stored', async () => {
    const fanOut = await opened();
    await register(ruled(), [from(OTHER, 0, item(fanOut))]);
    expect(kit.sent.rejected).toEqual([]);
    expect((await task(0))?.fanOutItem).toBe(`${fanOut}:0:0`);
    await cancel(kit, id(`${depot}-0`));
    expect(await slot(fanOut)).toBe(false);
  });

  it("is refused without a token and with another item's", async () => {
    const fanOut = await opened();
    const [, , , other] = item(fanOut, 1).fanOutItem.split(':');
    await register(ruled(), [
      from(OTHER, 0, bare(fanOut)),
      from(OTHER, 1, { fanOutItem: `${fanOut}:0:0:${other}` }),
      from(OTHER, 2, { fanOutItem: `${fanOut}:0:0:${'A'.repeat(22)}` }),
    ]);
    expect(problems()).toEqual([['fanOutItem'], ['fanOutItem'], ['fanOutItem']]);
    expect([await task(0), await task(1), await task(2)]).toEqual([undefined, undefined, undefined]);
  });

  it('is given without a token to named producers', async () => {
    const fanOut = await opened();
    await register(ruled({ acknowledge: ['shop'] }), [from(SHOP, 0, bare(fanOut)), from(OTHER, 1, bare(fanOut, 1))]);
    expect([(await task(0))?.fanOutItem, await task(1)]).toEqual([`${fanOut}:0:0`, undefined]);
  });

  it('stays as before in a stage that warns, except a wrong token', async () => {
    const fanOut = await opened();
    kit.mode = 'warn';
    await register(ruled(), [from(OTHER, 0, bare(fanOut)), from(OTHER, 1, item(fanOut, 1, 'another key'))]);
    expect([(await task(0))?.fanOutItem, await task(1)]).toEqual([`${fanOut}:0:0`, undefined]);
    expect(broken()).toEqual([
      { event: 'rule-broken', rule: 'acknowledge', operation: 'ship', messages: 1, senders: [OTHER.id] },
    ]);
  });

  it('cannot be prepared before the fan-out is opened', async () => {
    await register(ruled(), [from(OTHER, 0, item(fanOutId(`later-${depot}`) as FanOutId))]);
    expect(await task(0)).not.toHaveProperty('fanOutItem');
    expect(kit.events).toContainEqual({ event: 'unknown-items', items: 1, first: `later-${depot}:0:0` });
  });

  it('has no token in a fan-out of an earlier release', async () => {
    const fanOut = await opened('');
    await register(ruled({ acknowledge: 'any' }), [from(OTHER, 0, bare(fanOut)), from(OTHER, 1, item(fanOut, 1))]);
    expect([(await task(0))?.fanOutItem, problems()]).toEqual([`${fanOut}:0:0`, [['fanOutItem']]]);
  });

  it('costs one read a fan-out, and one more for a wrong token', async () => {
    const fanOut = await opened();
    const asked: string[][] = [];
    const itemKeys = rememberedItemKeys({
      itemKeys: (ids) => {
        asked.push([...ids]);
        return kit.fanOuts.itemKeys(ids);
      },
    });
    const deps = { ...ruled(), powers: { ...kit.powers, itemKeys } };
    await register(deps, [from(OTHER, 0, item(fanOut, 0)), from(OTHER, 1, item(fanOut, 1))]);
    await register(deps, [from(OTHER, 2, item(fanOut, 2))]);
    expect(asked).toEqual([[fanOut]]);
    await register(deps, [from(OTHER, 3, item(fanOut, 3, 'another key'))]);
    expect(asked).toEqual([[fanOut], [fanOut]]);
  });
});

suite('the sender of a message sent again', () => {
  it('stays that of the dead letter', async () => {
    kit.letters.register = [{ ...deadLetter(message(0).body), sender: OTHER }];
    await redriveDeadLetterQueue(kit, 'register', { began: NOW, mayGoOn: () => true }, () => 0);
    expect(kit.sent.revived.map((each) => each.deadLetter.sender)).toEqual([OTHER]);
  });

  it('stays that of a rejected message, or unknown', async () => {
    const rejection = { messageId: 'm', body: message(0).body, problems: [], at: NOW };
    const letters = [rejection, { ...rejection, messageId: 'n', sender: SHOP }].map(printRejection);
    expect(parseRejection(letters[1] as string)?.sender).toEqual(SHOP);
    kit.letters.rejected = letters.map((body, n) => ({ ...deadLetter(body, n), sender: CALLER }));
    await redriveRefused(kit, { began: NOW, mayGoOn: () => true });
    expect(kit.sent.revived.map((each) => each.deadLetter.sender)).toEqual([UNKNOWN_SENDER, SHOP]);
  });
});

suite('reports of broken rules', () => {
  it('are bounded: one for each rule and operation, with ten senders', async () => {
    kit.mode = 'warn';
    const senders = Array.from({ length: 30 }, (_, n): Sender => ({ id: `AROA${n}`, via: 'queue' }));
    await register(
      ruled({ send: ['shop'] }),
      senders.map((sender, n) => from(sender, n)),
    );
    expect(broken()).toEqual([
      {
        event: 'rule-broken',
        rule: 'send',
        operation: operationName('ship'),
        messages: 30,
        senders: senders.slice(0, 10).map((each) => each.id),
      },
    ]);
  });
});
