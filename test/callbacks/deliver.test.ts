import { beforeEach, describe, expect, it } from 'vitest';
import type { FlowEvent } from '../../src/batching/events.ts';
import type { Rejection } from '../../src/batching/rejection.ts';
import { tell } from '../../src/batching/tell.ts';
import { type CallbackMessage, callbackOf, printCallback } from '../../src/callbacks/callback.ts';
import { deliverAll, type Way } from '../../src/callbacks/deliver.ts';
import type { LeavingEvent } from '../../src/callbacks/event.ts';
import type { Config } from '../../src/config/resolved.ts';
import { aConfig, aStored, NOW } from '../factories/factories.ts';

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
beforeEach(() => {
  events = [];
  rejected = [];
  sent = [];
  ways = {};
});

const deliver = async (...bodies: readonly string[]): Promise<[string, string][]> => {
  const failures: [string, string][] = [];
  const deps = {
    config,
    queues: { reject: async (all: readonly Rejection[]) => void rejected.push(...all) },
    machine: { now: () => NOW },
    report: (event: FlowEvent) => void events.push(event),
    stack: 'here',
    wayTo: (destination: { readonly name?: string }) => {
      const name = destination.name ?? '';
      return ways[name] ?? (async (event: LeavingEvent) => void sent.push([name, event]));
    },
  };
  const messages = bodies.map((body, n) => ({ messageId: `m-${n}`, body }));
  const back = await deliverAll(deps as never, messages, ({ messageId }, cause) =>
    failures.push([messageId, String(cause)]),
  );
  expect(back.map(({ messageId }) => messageId).toSorted()).toEqual(failures.map(([each]) => each).toSorted());
  return failures;
};

describe('events of an invocation', () => {
  it('go each to its destination, and are counted by that', async () => {
    expect(await deliver(bodyTo('ops'), bodyTo('news'), bodyTo('ops'))).toEqual([]);
    expect(sent.map(([name]) => name)).toEqual(['ops', 'news', 'ops']);
    expect(sent[0]?.[1]).toMatchObject({ type: 'groupage.task.failed', source: '/groupage/here/ship' });
    expect(events).toEqual([
      { event: 'delivered', destination: 'ops', events: 2 },
      { event: 'delivered', destination: 'news', events: 1 },
    ]);
  });

  it('that fail come back, cost the others nothing, and are reported', async () => {
    ways.news = () => Promise.reject(new Error('answered 500'));
    expect(await deliver(bodyTo('news'), bodyTo('ops'))).toEqual([['m-0', 'Error: answered 500']]);
    expect(events).toEqual([
      { event: 'not-delivered', destination: 'news', cause: 'answered 500' },
      { event: 'delivered', destination: 'ops', events: 1 },
    ]);
  });

  it.each([
    [
      'to a destination that is not configured',
      bodyTo('gone'),
      'is no configured destination: "gone"; configured are ops, news',
    ],
    ['to one that every object has', bodyTo('constructor'), 'is no configured destination: "constructor"; configured'],
    ['that no λ wrote', '{"to":"ops"}', 'callback queue: not a message that Groupage sends'],
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

describe('telling', () => {
  const told = async (given: Config) => {
    const messages: CallbackMessage[] = [];
    const queues = { callbacks: async (all: readonly CallbackMessage[]) => void messages.push(...all) };
    const other = { ...failed, callback: 'gone' };
    await tell({ config: given, queues, report: (event: FlowEvent) => void events.push(event) } as never, [
      failed,
      other,
    ]);
    return messages.map(({ to }) => to);
  };

  it('puts the events of those that ended into the callback queue, unknown destinations too', async () => {
    expect(await told(config)).toEqual(['ops', 'gone']);
    expect(events).toEqual([]);
  });

  it('says so, and fails nobody, where no destination is configured any more', async () => {
    expect(await told({ ...config, destinations: {} })).toEqual([]);
    expect(events).toEqual([{ event: 'untold', tasks: 2, destinations: ['ops', 'gone'] }]);
  });
});
