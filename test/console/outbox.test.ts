import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { outbox } from '../../tools/console/server/outbox.ts';

/** Reads until it is closed. */
const readAll = (box: AsyncIterable<string>) => {
  const read: string[] = [];
  const done = (async () => {
    for await (const message of box) read.push(message);
  })();
  return { read, done };
};

describe('what a page has yet to be sent', () => {
  it('is the latest about each thing, in the order in which they first came', async () => {
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

  it('is nothing once the page has gone', async () => {
    const box = outbox<string>();
    box.put('a', 'a1');
    box.close();
    const { read, done } = readAll(box);
    await done;
    expect(read).toEqual([]);
  });
});
