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
  /** Those of an invocation of at most three, or of a second; whatever begins with `bad` fails. */
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

  it('are handed on at once when they are as many as fit', async () => {
    const open = gathering();
    const done = ['a', 'bad', 'c', 'd'].map((message) => open.add(message));
    expect(await Promise.all(done.slice(0, 3))).toEqual([true, false, true]);
    expect(sent).toEqual([['a', 'bad', 'c']]);
    vi.advanceTimersByTime(1_000);
    expect(await done[3]).toBe(true);
  });

  it('are handed on when the first of them has waited, counted from when it came', async () => {
    const open = gathering();
    const first = open.add('a');
    vi.advanceTimersByTime(900);
    const second = open.add('b');
    vi.advanceTimersByTime(99);
    expect(sent).toEqual([]);
    vi.advanceTimersByTime(1);
    expect([await first, await second, sent]).toEqual([true, true, [['a', 'b']]]);
  });

  it('are no more than an invocation has bytes for', async () => {
    const open = gathering();
    const done = ['1 large', '2 large', '3 large'].map((message) => open.add(message));
    await done[0];
    expect(sent).toEqual([['1 large', '2 large']]);
    open.handOn();
    await done[2];
    expect(sent).toEqual([['1 large', '2 large'], ['3 large']]);
  });

  it('all hear of an invocation that failed', async () => {
    const open = gathering();
    const done = ['a', 'crash', 'c'].map((message) => open.add(message));
    expect((await Promise.allSettled(done)).map(({ status }) => status)).toEqual(Array(3).fill('rejected'));
  });
});

it('a local stack hands on as many register messages as its configuration says, and each task is done', async () => {
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
