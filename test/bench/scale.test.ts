/** Small versions of what docs/scale.md tells. Virtual time is the same on every machine: rates are counts here. */
import { describe, expect, it } from 'vitest';
import { tryShards } from '../../bench/scale/shards.ts';

describe('one hot Target', () => {
  it('takes what its key bears, and n shards take n times that', async () => {
    const one = await tryShards(1, 5);
    const four = await tryShards(4, 5);
    expect(one.taken).toBeGreaterThan(400);
    expect(one.throttled).toBeGreaterThan(0);
    expect(four.taken / one.taken).toBeGreaterThan(3.6);
  });
});
