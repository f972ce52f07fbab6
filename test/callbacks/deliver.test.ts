import { beforeEach, describe, expect, it } from 'vitest';
import { type CallbackMessage, callbackOf, printCallback } from '../../src/domain/callbacks/callback.ts';
import type { LeavingEvent } from '../../src/domain/callbacks/event.ts';
import { NEW_SHARE } from '../../src/domain/callbacks/share.ts';
import type { Config } from '../../src/domain/config/resolved.ts';
import type { FlowEvent } from '../../src/domain/events/events.ts';
import type { Rejection } from '../../src/domain/register/rejection.ts';
import type { PutOff, Returns } from '../../src/ports/callbacks.ts';
import { TooLarge, type Way } from '../../src/ports/callbacks.ts';
import { deliverAll } from '../../src/steps/deliver/deliver.ts';
import { notify } from '../../src/steps/tasks/notify.ts';
import { aConfig, aStored, NOW, token } from '../factories/factories.ts';

const failed = aStored({
  status: 'failed',
  error: { code: 'refused', message: 'no', retriable: false },
  attempts: 1,
  finishedAt: NOW,
});
const config: Config = {
  ...aConfig({ callbacks: { failed: 'ops', succeeded: null } }),
  destinations: { ops: { kind: 'queue', name: 'ops' }, news: { kind: 'topic', name: 'news' } },
};
const bodyTo = (to: string): string =>
  printCallback({ to, event: callbackOf({ callbacks: { failed: to, succeeded: null } }, failed)?.event ?? '' });

let events: FlowEvent[];
let rejected: Rejection[];
let sent: [string, LeavingEvent][];
let ways: Record<string, Way>;
let putOff: PutOff[];
let givenUp: string[];
let returns: Returns['putOff'];
beforeEach(() => {
  putOff = [];
  givenUp = [];
  returns = async (messages) => {
    putOff.push(...messages);
    return [];
  };
  events = [];
  rejected = [];
  sent = [];
  ways = {};
});

const deliver = (...bodies: readonly string[]): Promise<[string, string][]> => deliverAt({ now: NOW }, ...bodies);

/** @param at the time of the invocation, and how often each message was received by then */
const deliverAt = async (
  { now, receives = 1 }: { readonly now: number; readonly receives?: number },
  ...bodies: readonly string[]
): Promise<[string, string][]> => {
  const failures: [string, string][] = [];
  const deps = {
    config,
    queues: {
      reject: async (all: readonly Rejection[]) => void rejected.push(...all),
      giveUp: async (all: readonly string[]) => void givenUp.push(...all),
    },
    returns: { putOff: (messages: readonly PutOff[]) => returns(messages) },
    machine: { now: () => now, random: () => 1 },
    report: (event: FlowEvent) => void events.push(event),
    stack: 'here',
    wayTo: (destination: { readonly name?: string }) => {
      const name = destination.name ?? '';
      return ways[name] ?? (async (event: LeavingEvent) => void sent.push([name, event]));
    },
  };
  const messages = bodies.map((body, n) => ({ messageId: `m-${n}`, body, receipt: `r-${n}`, receives }));
  const back = await deliverAll(deps as never, messages, ({ messageId }, cause) =>
    failures.push([messageId, String(cause)]),
  );
  const failed = givenUp.length > 0 ? [] : failures.map(([each]) => each);
  expect(back.map(({ messageId }) => messageId).toSorted()).toEqual(failed.toSorted());
  return failures;
};

describe('events of an invocation', () => {
  it('go to their destinations, and are counted for each', async () => {
    expect(await deliver(bodyTo('ops'), bodyTo('news'), bodyTo('ops'))).toEqual([]);
    expect(sent.map(([name]) => name).toSorted()).toEqual(['news', 'ops', 'ops']);
    expect(sent[0]?.[1]).toMatchObject({ type: 'groupage.task.failed', source: '/groupage/here/ship' });
    expect(events).toEqual([
      { event: 'delivered', destination: 'ops', events: 2 },
      { event: 'delivered', destination: 'news', events: 1 },
    ]);
  });

  it('that fail come back, are reported, and do not affect the others', async () => {
    ways.news = () => Promise.reject(new Error('answered 500'));
    expect(await deliver(bodyTo('news'), bodyTo('ops'))).toEqual([['m-0', 'Error: answered 500']]);
    expect(events).toEqual([
      { event: 'not-delivered', destination: 'news', cause: 'answered 500' },
      { event: 'put-off', destination: 'news', events: 1, uncalled: 0, waited: 0 },
      { event: 'delivered', destination: 'ops', events: 1 },
    ]);
  });

  it('that fail come back later each time, and report the longest wait', async () => {
    ways.news = () => Promise.reject(new Error('answered 500'));
    await deliverAt({ now: NOW + 90_000, receives: 3 }, bodyTo('news'), bodyTo('ops'), bodyTo('news'));
    expect(putOff).toEqual([
      { messageId: 'm-0', receipt: 'r-0', delay: 8 },
      { messageId: 'm-2', receipt: 'r-2', delay: 8 },
    ]);
    expect(events).toContainEqual({ event: 'put-off', destination: 'news', events: 2, uncalled: 0, waited: 90_000 });
  });

  it('come back although SQS refuses their delays', async () => {
    ways.news = () => Promise.reject(new Error('answered 500'));
    returns = () => Promise.reject(new Error('throttled'));
    expect(await deliver(bodyTo('news'))).toHaveLength(1);
    expect(events).toContainEqual({ event: 'not-put-off', messages: 1, cause: 'Error: throttled' });
    returns = async (messages) => messages;
    expect(await deliver(bodyTo('news'))).toHaveLength(1);
    expect(events).toContainEqual({ event: 'not-put-off', messages: 1 });
  });

  it('that fail after three days and some attempts are given up', async () => {
    ways.news = () => Promise.reject(new Error('answered 500'));
    const late = { now: NOW + 72 * 3_600_000 + 1 };
    await deliverAt({ ...late, receives: 2 }, bodyTo('news'));
    await deliverAt({ now: NOW + 72 * 3_600_000, receives: 900 }, bodyTo('news'));
    expect([givenUp, putOff.length]).toEqual([[], 2]);
    await deliverAt({ ...late, receives: 3 }, bodyTo('news'));
    expect([givenUp, putOff.length]).toEqual([[bodyTo('news')], 2]);
    expect(events).toContainEqual({ event: 'given-up', destination: 'news', messageId: 'm-0' });
  });

  it('without a slot are not given up at any age, as they were not tried', async () => {
    const now = NOW + 72 * 3_600_000 + 1;
    const slow = { ...NEW_SHARE, destinations: { hook: { failures: 0, slowUntil: now + 60_000 } } };
    const hook = {
      kind: 'http',
      url: 'http://127.0.0.1:1/',
      headers: {},
      secret: { ssm: '/key' },
      legacySignature: true,
      timeout: 10_000,
    };
    const deps = {
      config: { ...config, destinations: { ...config.destinations, hook } },
      queues: { giveUp: async (all: readonly string[]) => void givenUp.push(...all) },
      returns: { putOff: (messages: readonly PutOff[]) => returns(messages) },
      machine: { now: () => now, random: () => 1, token: () => token('invocation') },
      report: (event: FlowEvent) => void events.push(event),
      sharing: { look: async () => slow, change: async () => 'refused' },
      stack: 'here',
      wayTo: () => async () => {
        throw new Error('called without a slot');
      },
    };
    const message = { messageId: 'm', body: bodyTo('hook'), receipt: 'r', receives: 900 };
    expect(await deliverAll(deps as never, [message], () => {})).toEqual([message]);
    expect([givenUp, putOff.length]).toEqual([[], 1]);
  });

  it('in the form of a later release come back', async () => {
    expect(await deliver('{"v":2}')).toHaveLength(1);
    expect(putOff).toMatchObject([{ messageId: 'm-0', delay: 2 }]);
  });

  it.each([
    [
      'to a destination that is not configured',
      bodyTo('gone'),
      'is no configured destination: "gone"; configured are ops, news',
    ],
    [
      'to the name of an Object property',
      bodyTo('constructor'),
      'is no configured destination: "constructor"; configured',
    ],
    ['that no function sent', '{"to":"ops"}', 'callback queue: not a message that Groupage sends'],
  ])('%s go to the rejected queue with the reason', async (_, body, reason) => {
    expect(await deliver(body, bodyTo('ops'))).toEqual([]);
    expect(rejected).toEqual([
      {
        messageId: 'm-0',
        body,
        problems: [{ path: expect.any(String), reason: expect.stringContaining(reason) }],
        at: NOW,
        queue: 'callback',
      },
    ]);
    expect(events).toContainEqual({ event: 'rejected', messages: 1, reasons: [expect.stringContaining(reason)] });
    expect(sent).toHaveLength(1);
  });
});

describe('an event refused for its size', () => {
  const done = aStored({ status: 'succeeded', attempts: 1, finishedAt: NOW, result: '"much"' });
  const large = printCallback({
    to: 'ops',
    event: callbackOf({ callbacks: { failed: null, succeeded: 'ops' } }, done)?.event ?? '',
  });
  const refusing: Way = async (event) => {
    if (event.text.includes('much')) throw new TooLarge('must be shorter than 262144 bytes');
    sent.push(['ops', event]);
  };

  it('is sent again at once without its result, which is reported', async () => {
    ways.ops = refusing;
    expect(await deliver(large)).toEqual([]);
    expect(JSON.parse(sent[0]?.[1].text ?? '').data).toMatchObject({
      status: 'succeeded',
      resultOmitted: { bytes: 6 },
    });
    expect(events).toMatchObject([
      {
        event: 'result-omitted',
        destination: 'ops',
        bytes: expect.any(Number),
        cause: expect.stringMatching(/262144/),
      },
      { event: 'delivered', destination: 'ops', events: 1 },
    ]);
  });

  it('comes back if it has no result to leave out', async () => {
    let calls = 0;
    ways.ops = async () => {
      calls += 1;
      throw new TooLarge('too long');
    };
    expect(await deliver(bodyTo('ops'))).toEqual([['m-0', 'TooLarge: too long']]);
    expect(calls).toBe(1);
  });
});

describe('notify', () => {
  const told = async (given: Config) => {
    const messages: CallbackMessage[] = [];
    const queues = { callbacks: async (all: readonly CallbackMessage[]) => void messages.push(...all) };
    const other = { ...failed, callback: 'gone' };
    await notify({ config: given, queues, report: (event: FlowEvent) => void events.push(event) } as never, [
      failed,
      other,
    ]);
    return messages.map(({ to }) => to);
  };

  it('puts the events of ended tasks into the callback queue', async () => {
    expect(await told(config)).toEqual(['ops', 'gone']);
    expect(events).toEqual([]);
  });

  it('reports untold tasks if no destination is configured any more', async () => {
    expect(await told({ ...config, destinations: {} })).toEqual([]);
    expect(events).toEqual([{ event: 'untold', tasks: 2, destinations: ['ops', 'gone'] }]);
  });
});
