import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Gathering, INVOCATION_MAX_BYTES } from '../../tools/local/gathering.ts';
import { startLocalFlow } from './flow.ts';

describe('messages that are gathered', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  const sent: string[][] = [];
  /** Invocations take at most three messages or one second. A message that begins with `bad` fails. */
  const gathering = () => {
    sent.length = 0;
    return new Gathering<string>(
      { size: 3, wait: 1_000, bytesOf: (text) => (text.endsWith('large') ? INVOCATION_MAX_BYTES / 2 : 1) },
      async (messages) => {
        sent.push([...messages]);
        if (messages.includes('crash')) throw new Error('timed out');
        return new Set(messages.filter((message) => !message.startsWith('bad')));
      },
    );
  };

  it('are passed on at once when the batch is full', async () => {
    const open = gathering();
    const done = ['a', 'bad', 'c', 'd'].map((message) => open.add(message));
    expect(await Promise.all(done.slice(0, 3))).toEqual([true, false, true]);
    expect(sent).toEqual([['a', 'bad', 'c']]);
    vi.advanceTimersByTime(1_000);
    expect(await done[3]).toBe(true);
  });

  it('are passed on when the first one has waited for the window', async () => {
    const open = gathering();
    const first = open.add('a');
    vi.advanceTimersByTime(900);
    const second = open.add('b');
    vi.advanceTimersByTime(99);
    expect(sent).toEqual([]);
    vi.advanceTimersByTime(1);
    expect([await first, await second, sent]).toEqual([true, true, [['a', 'b']]]);
  });

  it('do not exceed the payload limit of an invocation', async () => {
    const open = gathering();
    const done = ['1 large', '2 large', '3 large'].map((message) => open.add(message));
    await done[0];
    expect(sent).toEqual([['1 large', '2 large']]);
    open.handOn();
    await done[2];
    expect(sent).toEqual([['1 large', '2 large'], ['3 large']]);
  });

  it('all fail if their invocation fails', async () => {
    const open = gathering();
    const done = ['a', 'crash', 'c'].map((message) => open.add(message));
    expect((await Promise.allSettled(done)).map(({ status }) => status)).toEqual(Array(3).fill('rejected'));
  });
});

it('a local stack passes on as many register messages at once as configured', async () => {
  const flow = await startLocalFlow({}, {}, { register: { maxMessages: 30, maxWait: '5s' } });
  try {
    const ids = await flow.send(Array.from({ length: 60 }, (_, n) => ({ depot: 'A', n })));
    await flow.settled(ids, 120_000);
    const tasks = flow.events.flatMap((event) => (event.event === 'registered' ? [event.tasks] : []));
    expect(tasks.reduce((sum, each) => sum + each, 0)).toBe(60);
    expect(Math.max(...tasks)).toBe(30);
  } finally {
    await flow.stop();
  }
});
