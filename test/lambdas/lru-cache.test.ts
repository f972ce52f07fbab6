/** The replacement of mnemonist's cache in the bundles. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import LRUCache from '../../lambdas/lru-cache.ts';

it("the LRU cache has each method that the SDK's endpoint cache calls", () => {
  const source = readFileSync('node_modules/@aws-sdk/endpoint-cache/dist-es/EndpointCache.js', 'utf8');
  const called = new Set([...source.matchAll(/this\.cache\.(\w+)/g)].map(([, name]) => name as string));
  expect([...called].sort()).toEqual(['clear', 'get', 'has', 'peek', 'set']);
  for (const name of called) expect(LRUCache.prototype).toHaveProperty(name);
});

it('the LRU cache keeps its values', () => {
  const cache = new LRUCache<string, number>(1_000);
  expect(cache.size).toBe(0);
  cache.set('a', 1);
  expect([cache.has('a'), cache.get('a'), cache.peek('a'), cache.peek('b')]).toEqual([true, 1, 1, undefined]);
  cache.clear();
  expect(cache.has('a')).toBe(false);
});
