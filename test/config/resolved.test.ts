import { describe, expect, it } from 'vitest';
import {
  batchVisibility,
  type Config,
  callbackTimeout,
  handlerTimeout,
  type Operation,
  operationFor,
} from '../../src/domain/config/resolved.ts';
import { parseConfig } from '../../src/domain/config/schema/config.ts';
import { operationName } from '../factories/factories.ts';
import { HTTP, URL_HERE } from './problems.ts';

const resolved = (operation: object): Operation => {
  const parsed = parseConfig({ operations: { ship: { target: [], downstream: HTTP, ...operation } } });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  return operationFor(parsed.value, operationName('ship'));
};

describe('a resolved configuration', () => {
  it('needs a target and a downstream; the rest has defaults', () => {
    const parsed = parseConfig({ operations: { ship: { target: ['carrier', 'depot'], downstream: HTTP } } });
    expect(parsed).toEqual({
      ok: true,
      value: {
        limits: {},
        register: { maxMessages: 10, maxWait: 0 },
        fanOuts: { idleOpen: 7_200_000, idleSealed: 604_800_000, keep: 604_800_000, callback: null },
        lists: { keep: 604_800_000, callback: null, maxDeliveries: 5 },
        alarms: { topic: null, runbook: 'docs/how-to/operate.md', failedBatches: 1 },
        keepAudit: 400 * 86_400_000,
        version: 1,
        operations: {
          ship: {
            operation: 'ship',
            keys: ['carrier', 'depot'],
            batch: {
              maxSize: 100,
              maxBytes: 900_000,
              maxWeight: 0,
              maxWait: 1_000,
              quietPeriod: 0,
              minSize: 1,
              window: null,
              bypass: null,
            },
            merge: null,
            concurrency: { perTarget: null, total: null },
            downstream: {
              ...HTTP,
              headers: {},
              secret: null,
              method: 'POST',
              auth: null,
              request: null,
              response: null,
              legacySignature: true,
              usageHeader: null,
              timeout: 10_000,
              deadline: 3_600_000,
              requireResults: null,
            },
            retry: { immediate: 1, maxAttempts: 5, minDelay: 1_000, maxDelay: 300_000, bisect: true, isolate: true },
            callbacks: { failed: null, succeeded: null },
            rateLimit: null,
            limits: [],
            circuit: { failures: 5, coolDown: 30_000 },
            shards: 1,
            keepTasks: 30 * 86_400_000,
            producers: { send: 'any', coalesce: 'own', acknowledge: 'token', redrive: 'api' },
          },
        },
        sources: { ship: { target: 'operation', 'downstream.kind': 'operation', 'downstream.url': 'operation' } },
        destinations: {},
        producers: {},
      },
    });
  });

  it('takes its window as maxWait, and bypass as bytes', () => {
    expect(resolved({ batch: { window: '5m' }, bypass: { bytes: 7 } }).batch).toMatchObject({
      maxWait: 300_000,
      window: 300_000,
      bypass: 7,
    });
    expect(resolved({ batch: { maxWait: '2h' } }).batch).toMatchObject({ maxWait: 7_200_000, window: null });
  });

  it('caps Targets at 1 with merge, and else as configured', () => {
    const merge = { keys: 'a[]' };
    expect(resolved({ merge, concurrency: { total: 9 } }).concurrency).toEqual({ perTarget: 1, total: 9 });
    expect(resolved({ merge, concurrency: { perTarget: 1 } }).concurrency).toEqual({ perTarget: 1, total: null });
    expect(resolved({ concurrency: { perTarget: 4 } }).concurrency).toEqual({ perTarget: 4, total: null });
  });

  it('has no more maxBytes than a call of its kind can hold', () => {
    const kinds = {
      http: HTTP,
      lambda: { kind: 'lambda', function: 'f' },
      'step-functions': { kind: 'step-functions', stateMachine: 'm' },
      queue: { kind: 'queue', name: 'q' },
    };
    const maxBytes = Object.values(kinds).map((downstream) => resolved({ downstream }).batch.maxBytes);
    expect(maxBytes).toEqual([900_000, 900_000, 250_000, 900_000]);
    expect(resolved({ batch: { maxBytes: 6_000_000 } }).batch.maxBytes).toBe(6_000_000);
  });

  it('has times for each kind; a queue has no later deadline', () => {
    const times = { timeout: 10_000, deadline: 3_600_000 };
    expect(resolved({ downstream: { kind: 'lambda', function: 'f' } }).downstream).toEqual({
      kind: 'lambda',
      function: 'f',
      ...times,
      requireResults: null,
    });
    expect(resolved({ downstream: { kind: 'step-functions', stateMachine: 'm' } }).downstream).toMatchObject(times);
    expect(resolved({ downstream: { kind: 'queue', name: 'q', timeout: '5s' } }).downstream).toEqual({
      kind: 'queue',
      name: 'q',
      timeout: 5_000,
      deadline: 5_000,
    });
  });

  it('has a circuit unless it is null', () => {
    expect(resolved({ circuit: { failures: 2 } }).circuit).toEqual({ failures: 2, coolDown: 30_000 });
    expect(resolved({ circuit: null }).circuit).toBeNull();
  });

  it('gives the batch handler time for its longest attempt', () => {
    const parsed = parseConfig({
      operations: {
        a: { target: [], downstream: HTTP },
        b: { target: [], downstream: { ...HTTP, timeout: '60s' }, retry: { immediate: 2 } },
      },
    });
    expect(parsed.ok && handlerTimeout(parsed.value)).toBe(190_000);
  });

  it('gives the batch handler whole seconds, as Lambda counts in them', () => {
    const parsed = parseConfig({ operations: { a: { target: [], downstream: { ...HTTP, timeout: '250ms' } } } });
    expect(parsed.ok && handlerTimeout(parsed.value)).toBe(11_000);
  });

  it('throws for an operation that it does not have', () => {
    const parsed = parseConfig({ operations: { ship: { target: [], downstream: HTTP } } });
    expect(() => parsed.ok && operationFor(parsed.value, operationName('gone'))).toThrow(
      /^operation "gone" is not in the configuration\. If it still has stored tasks, add the operation again/,
    );
    expect(() => parsed.ok && operationFor(parsed.value, operationName('constructor'))).toThrow();
  });
});

describe('timeouts of functions', () => {
  const of = (config: object): Config => {
    const parsed = parseConfig({ operations: { ship: { target: [], downstream: HTTP } }, ...config });
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
    return parsed.value;
  };
  const http = (timeout?: string) => ({
    ...{ kind: 'http', url: URL_HERE, secret: { ssm: '/ops' } },
    ...(timeout ? { timeout } : {}),
  });

  it.each([
    [[], 20_000],
    [[{ kind: 'queue', name: 'ops' }], 20_000],
    [[http('1s')], 20_000],
    [[http('10001ms')], 21_000],
    [[http('25s')], 35_000],
    [[http('25s'), http('1s')], 35_000],
    [[http('1s'), http('25s'), { kind: 'queue', name: 'ops' }], 35_000],
  ])('let the callback function wait for the slowest destination: %j', (destinations, timeout) => {
    const named = Object.fromEntries(destinations.map((each, n) => [`d${n}`, each]));
    expect(callbackTimeout(of({ destinations: named }))).toBe(timeout);
  });

  it('let the batch handler make its longest attempt before a redelivery', () => {
    const operations = Object.fromEntries(
      ['1s', '20001ms', '3s'].map((timeout, n) => [`op${n}`, { target: [], downstream: { ...HTTP, timeout } }]),
    );
    const config = of({ operations });
    // Two calls of 20.001 s and a margin, in whole seconds.
    expect(handlerTimeout(config)).toBe(51_000);
    expect(batchVisibility(config)).toBe(306_000);
  });
});
