import { beforeEach, describe, expect, it } from 'vitest';
import { api } from '../../src/api/app.ts';
import { printRejection } from '../../src/domain/register/rejection.ts';
import { describeEach } from '../ports/describe-each.ts';
import { queueKinds } from '../ports/queues.ts';
import { memoryStores } from '../ports/stores.ts';
import { type StepKit, stepKit } from '../steps/step-kit.ts';
import { deadLetter, refused } from '../steps/step-suite.ts';

interface Listed {
  readonly messages: readonly Readonly<Record<string, unknown>>[];
  readonly count: number;
  readonly note?: string;
}
interface Handled {
  readonly redriven?: number;
  readonly discarded?: number;
  readonly skipped: readonly { readonly id: string; readonly reason: string }[];
  readonly left: number;
  readonly detail?: string;
}

const asker = (deps: StepKit) => {
  const onError = (cause: unknown) => {
    throw cause;
  };
  const app = api({ ...deps, newId: () => 'new', onError });
  return async <Body>(path: string, body?: object) => {
    const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    const response = await app.request(`/v1/dead-letters${path}`, init);
    const text = await response.text();
    return { status: response.status, text, body: JSON.parse(text) as Body };
  };
};

describe('rejected messages', () => {
  const valid = (n: number): string =>
    JSON.stringify({ operation: 'ship', id: `t-${n}`, payload: { depot: 'MUC', n } });
  let kit: StepKit;
  let ask: ReturnType<typeof asker>;
  beforeEach(() => {
    kit = stepKit(memoryStores());
    ask = asker(kit);
  });

  it('are listed with reasons, ids, sender and the outcome of a redrive', async () => {
    const { now: at } = kit;
    const rejection = { messageId: 'sent-1', problems: [{ path: 'operation', reason: 'is unknown' }], at };
    const body = '{"operation":"gone","id":"t-1","payload":{}}';
    kit.letters.rejected = [
      deadLetter(printRejection({ ...rejection, body, sentAt: at - 5_000, sender: { id: 'AROA1', via: 'queue' } }), 1),
      refused(valid(2), 2),
    ];
    const { status, body: listed } = await ask<Listed>('/rejected/messages');
    expect([status, listed]).toEqual([
      200,
      {
        queue: 'rejected',
        count: 2,
        messages: [
          {
            id: 'letter-1',
            messageId: 'sent-1',
            reasons: [{ path: 'operation', reason: 'is unknown' }],
            operation: 'gone',
            taskId: 't-1',
            sender: 'queue:AROA1',
            sentAt: new Date(at - 5_000).toISOString(),
            since: new Date(at).toISOString(),
            body,
            wouldStay: expect.stringMatching(/^it would be rejected again: operation is unknown: "gone"/),
          },
          expect.not.objectContaining({ wouldStay: expect.anything() }),
        ],
      },
    ]);
  });

  it('have their bodies cut, and never exceed what Lambda answers', async () => {
    kit.letters.rejected = Array.from({ length: 10 }, (_, n) => refused(`{"a":"${'\u0001'.repeat(60_000)}"`, n));
    const { text, body } = await ask<Listed>('/rejected/messages?limit=50');
    expect(body.messages[0]).toMatchObject({ bodyIsCut: true, bodyBytes: 60_007 });
    expect(Buffer.byteLength(String(body.messages[0]?.body))).toBeLessThanOrEqual(10_000);
    // The most messages of one answer are five times as many.
    expect(5 * Buffer.byteLength(JSON.stringify({ body: text }))).toBeLessThan(6 * 1_024 * 1_024);
  });

  it('are named as missing if the list lacks them', async () => {
    kit.letters.rejected = Array.from({ length: 9 }, (_, n) => refused(valid(n), n));
    const { body } = await ask<Listed>('/rejected/messages?limit=4');
    expect([body.messages.length, body.count]).toEqual([4, 9]);
    expect(body.note).toMatch(/^about 5 more: beyond the limit of this list, or received by another reader/);
  });

  it('are redriven by id; others stay, and a repeat does nothing', async () => {
    kit.letters.rejected = [refused(valid(0), 0), refused(valid(1), 1), refused('{', 2)];
    const request = { ids: ['letter-1', 'letter-2', 'letter-9'] };
    const dry = await ask<Handled>('/rejected/redrive', { ...request, dryRun: true });
    expect([dry.status, dry.body.redriven, kit.sent.revived]).toEqual([200, 1, []]);
    const { status, body } = await ask<Handled>('/rejected/redrive', request);
    expect([status, body]).toEqual([202, { ...dry.body, dryRun: undefined, left: 2 }]);
    expect(body.skipped).toEqual([
      { id: 'letter-2', reason: expect.stringMatching(/^it would be rejected again: .*JSON/) },
      { id: 'letter-9', reason: expect.stringMatching(/^no visible message has this id: .* Try again in 30 seconds$/) },
    ]);
    expect(kit.sent.revived.map(({ deadLetter: { body: sent } }) => sent)).toEqual([valid(1)]);
    const repeat = await ask<Handled>('/rejected/redrive', { ids: ['letter-1'] });
    expect(repeat.body).toMatchObject({ redriven: 0, skipped: [{ id: 'letter-1' }], left: 2 });
  });

  it('are discarded by id or all, and recorded without bodies', async () => {
    kit.letters.rejected = Array.from({ length: 15 }, (_, n) => refused(valid(n), n));
    const dry = await ask<Handled>('/rejected/discard', { all: true, dryRun: true });
    expect([dry.status, dry.body, kit.letters.rejected.length]).toEqual([
      200,
      { dryRun: true, discarded: 15, skipped: [], left: 15 },
      15,
    ]);
    const some = await ask<Handled>('/rejected/discard?reason=test+data', { ids: ['letter-3', 'letter-4', 'gone'] });
    expect([some.status, some.body]).toMatchObject([202, { discarded: 2, skipped: [{ id: 'gone' }], left: 13 }]);
    expect(kit.letters.rejected.map(({ messageId }) => messageId)).not.toContain('letter-3');
    const all = await ask<Handled>('/rejected/discard', { all: true });
    expect([all.status, all.body]).toEqual([202, { discarded: 13, skipped: [], left: 0 }]);
    expect(kit.sent.revived).toEqual([]);
    const discards = kit.events.filter(({ event }) => event === 'discarded');
    expect(discards).toHaveLength(15);
    expect(JSON.stringify(kit.events)).not.toContain('payload');
    const { items } = await kit.audit.page({ limit: 10, now: kit.now });
    expect(items.map(({ action, subject, reason, status }) => [action, subject, reason, status]).toReversed()).toEqual([
      ['discard', { queue: 'rejected', messages: 'letter-3, letter-4, gone' }, 'test data', 202],
      ['discard', { queue: 'rejected' }, undefined, 202],
    ]);
  });

  it('cannot be discarded or chosen in a working queue', async () => {
    kit.letters.elect = [deadLetter('{"target":"ship/depot=MUC"}', 1)];
    const discarded = await ask<Handled>('/elect/discard', { all: true });
    expect([discarded.status, discarded.body.detail]).toEqual([
      409,
      expect.stringMatching(/^nothing was done: dead letters of this queue cannot be discarded: .* stuck/),
    ]);
    const chosen = await ask<Handled>('/elect/redrive', { ids: ['letter-1'] });
    expect([chosen.status, kit.letters.elect.length]).toEqual([409, 1]);
    expect((await ask<Listed>('/elect/messages')).body.messages).toMatchObject([{ id: 'letter-1', operation: 'ship' }]);
    expect((await ask('/none/messages')).status).toBe(404);
  });

  it('are discarded only on a clear request', async () => {
    kit.letters.rejected = [refused(valid(0), 0)];
    for (const body of [{}, { all: false }, { ids: [] }, { all: true, ids: ['letter-0'] }, { ids: ['a b'] }])
      expect([body, (await ask('/rejected/discard', body)).status]).toEqual([body, 400]);
    expect(kit.letters.rejected).toHaveLength(1);
  });
});

describeEach('chosen messages', queueKinds, (started) => {
  it('are visible again after a dry run, and so are all others', async () => {
    const { queues, deadLetters, now } = started();
    const kit = stepKit(memoryStores());
    const ask = asker({ ...kit, machine: { ...kit.machine, now }, deadLetters });
    await queues.reject([1, 2, 3].map((n) => ({ messageId: `c-${n}`, body: '{', problems: [], at: now() })));
    const ids = async () => (await ask<Listed>('/rejected/messages')).body.messages.map(({ id }) => String(id));
    const all = await ids();
    const some = all.slice(0, 2);
    const dry = await ask<Handled>('/rejected/discard', { ids: some, dryRun: true });
    expect(dry.body).toMatchObject({ discarded: 2, skipped: [] });
    expect((await ids()).toSorted()).toEqual(all.toSorted());
    expect((await ask<Handled>('/rejected/redrive', { ids: some })).body).toMatchObject({ redriven: 0 });
    expect((await ask<Handled>('/rejected/discard', { ids: some })).body).toMatchObject({ discarded: 2, skipped: [] });
    expect(await ids()).toEqual(all.slice(2));
    await ask('/rejected/discard', { all: true });
    expect(await ids()).toEqual([]);
  });
});

describeEach('a list that is read all the time', queueKinds, (started) => {
  it('does not keep a redrive from its messages', async () => {
    const { queues, deadLetters, now } = started();
    const kit = stepKit(memoryStores());
    const machine = { ...kit.machine, now };
    const ask = asker({ ...kit, machine, deadLetters });
    const bodies = Array.from({ length: 12 }, (_, n) =>
      JSON.stringify({ operation: 'ship', payload: { depot: 'X', n } }),
    );
    const before = await deadLetters.count('rejected');
    await queues.reject(bodies.map((body, n) => ({ messageId: `m-${n}`, body, problems: [], at: now() })));
    let isDone = false;
    let lists = 0;
    const listing = (async () => {
      while (!isDone && lists < 1_000) {
        expect((await ask('/rejected/messages?limit=50')).status).toBe(200);
        lists += 1;
        await new Promise(setImmediate);
      }
    })();
    let redriven = 0;
    for (let requests = 0; requests < 1 && redriven < bodies.length; requests += 1)
      redriven += (await ask<Handled>('/rejected/redrive', {})).body.redriven ?? 0;
    isDone = true;
    await listing;
    expect(redriven).toBe(bodies.length);
    expect(lists).toBeGreaterThan(0);
    expect(await deadLetters.count('rejected')).toBe(before);
  });
});
