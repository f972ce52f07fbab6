import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { outbox } from '../../tools/console/server/outbox.ts';

/** Reads until the outbox is closed. */
const readAll = (box: AsyncIterable<string>) => {
  const read: string[] = [];
  const done = (async () => {
    for await (const message of box) read.push(message);
  })();
  return { read, done };
};

describe('the outbox of a page', () => {
  it('keeps the latest message about each subject, in their first order', async () => {
    const box = outbox<string>();
    box.put('a', 'a1');
    box.put('b', 'b1');
    box.put('a', 'a2');
    const { read, done } = readAll(box);
    await setImmediate();
    expect(read).toEqual(['a2', 'b1']);
    box.put('a', 'a3');
    await setImmediate();
    expect(read).toEqual(['a2', 'b1', 'a3']);
    box.close();
    await done;
  });

  it('drops its messages when the page has closed', async () => {
    const box = outbox<string>();
    box.put('a', 'a1');
    box.close();
    const { read, done } = readAll(box);
    await done;
    expect(read).toEqual([]);
  });
});
