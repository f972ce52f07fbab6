import { describe, expect, it } from 'vitest';
import { fromJson, HTTP, problemsIn, problemsOf } from './problems.ts';

const DURATION = (from: string, to: string, or = '') =>
  `must be a duration from "${from}" to "${to}" (a number with ms, s, m, h or d)${or}, not`;
const CAP = 'must be a whole number from 1 to 1000, or null for no limit, not';
const FIELD = 'must be the name of a payload field, such as "depot" or "route.origin", not';
const NAME = 'is not a valid name for an operation: begin with a letter, then up to 63 letters, digits, - or _';
const PROTO = '{"__proto__":{"a":1}}';

describe('an invalid value of an operation is refused', () => {
  it.each<[object, string]>([
    [{ target: undefined }, 'target must be a list of payload fields, [] for none, not nothing'],
    [{ target: 'depot' }, 'target must be a list of payload fields, [] for none, not "depot"'],
    [{ target: ['a', 'a'] }, 'target must not name a field twice: "a"'],
    [{ target: [...'abcdefghijk'] }, 'target must name at most ten payload fields, not 11'],
    [{ target: ['a', 7] }, `target.1 ${FIELD} 7`],
    [{ target: [''] }, `target.0 ${FIELD} ""`],
    [{ target: ['a..b'] }, `target.0 ${FIELD} "a..b"`],
    [{ target: ['\ud800'] }, `target.0 ${FIELD} "\\ud800"`],
    [{ batch: null }, 'batch must be an object, not null'],
    [{ batch: { maxSize: 1_001 } }, 'batch.maxSize must be a whole number from 1 to 1000, not 1001'],
    [
      { batch: { maxSize: Number.POSITIVE_INFINITY } },
      'batch.maxSize must be a whole number from 1 to 1000, not Infinity',
    ],
    [{ batch: { maxSize: 10n } }, 'batch.maxSize must be a whole number from 1 to 1000, not 10n'],
    [{ batch: { maxSize: '5' } }, 'batch.maxSize must be a whole number from 1 to 1000, not "5"'],
    [{ batch: { maxBytes: 999 } }, 'batch.maxBytes must be a whole number from 1000 to 6000000, not 999'],
    [{ batch: { maxBytes: null } }, 'batch.maxBytes must be a whole number from 1000 to 6000000, not null'],
    [{ batch: { maxBytes: 1e99 } }, 'batch.maxBytes must be a whole number from 1000 to 6000000, not 1e+99'],
    [{ batch: { maxBytes: 1_000.5 } }, 'batch.maxBytes must be a whole number from 1000 to 6000000, not 1000.5'],
    [
      { batch: { maxWeight: Number.NaN } },
      'batch.maxWeight must be a number from 0 to 1000000000, or 0 for no limit, not NaN',
    ],
    [{ batch: { maxWeight: -1 } }, 'batch.maxWeight must be a number from 0 to 1000000000, or 0 for no limit, not -1'],
    [{ batch: { maxWait: '1 s' } }, `batch.maxWait ${DURATION('0ms', '7d')} "1 s"`],
    [{ batch: { maxWait: 5 } }, `batch.maxWait ${DURATION('0ms', '7d')} 5`],
    [{ batch: { quietPeriod: '2d' } }, `batch.quietPeriod ${DURATION('0ms', '1d')} "2d"`],
    [{ batch: { minSize: 0 } }, 'batch.minSize must be a whole number from 1 to 1000, not 0'],
    [{ batch: { window: '0s' } }, `batch.window ${DURATION('1s', '1d', ', or null for none')} "0s"`],
    [{ merge: 'inputs[].id' }, 'merge must be an object such as {"keys": "inputs[].id"}, or null for none, not a text'],
    [
      { merge: { keys: 'inputs.id' } },
      'merge.keys must be the path of a list in the payload and of the key in its elements, such as "inputs[].id", not "inputs.id"',
    ],
    [{ bypass: 5 }, 'bypass must be an object such as {"bytes": 100000}, or null for none, not a number'],
    [{ bypass: { bytes: 262_145 } }, 'bypass.bytes must be a whole number from 1 to 262144, not 262145'],
    [{ bypass: {} }, 'bypass.bytes must be a whole number from 1 to 262144, not nothing'],
    [{ concurrency: [] }, 'concurrency must be an object, not a list'],
    [{ concurrency: { perTarget: 0 } }, `concurrency.perTarget ${CAP} 0`],
    [{ concurrency: { total: true } }, `concurrency.total ${CAP} true`],
    [{ retry: { immediate: 11 } }, 'retry.immediate must be a whole number from 0 to 10, not 11'],
    [{ retry: { maxAttempts: 0 } }, 'retry.maxAttempts must be a whole number from 1 to 100, not 0'],
    [{ retry: { minDelay: '-1s' } }, `retry.minDelay ${DURATION('0ms', '1d')} "-1s"`],
    [{ retry: { maxDelay: '2d' } }, `retry.maxDelay ${DURATION('0ms', '1d')} "2d"`],
    [{ retry: { bisect: 'yes' } }, 'retry.bisect must be true or false, not "yes"'],
    [{ rateLimit: 0 }, 'rateLimit must be a number from 0.001 to 1000 (calls per second), or null for no limit, not 0'],
    [{ circuit: false }, 'circuit must be an object, or null for none, not a boolean'],
    [{ circuit: { failures: 0 } }, 'circuit.failures must be a whole number from 1 to 1000, not 0'],
    [{ circuit: { coolDown: '16m' } }, `circuit.coolDown ${DURATION('1s', '15m')} "16m"`],
    [{ shards: 1_001 }, 'shards must be a whole number from 1 to 1000, not 1001'],
    [{ keepTasks: '59m' }, `keepTasks ${DURATION('1h', '3650d')} "59m"`],
    [
      { callbacks: { failed: 'https://hooks.example/s3cret' } },
      'callbacks.failed must be the name of one of the "destinations" (not an address), or null for none, not a text',
    ],
    [
      { batch: { maxSize: 'x'.repeat(900) } },
      `batch.maxSize must be a whole number from 1 to 1000, not "${'x'.repeat(60)}…"`,
    ],
  ])('%#: %s', (operation, problem) => expect(problemsOf(operation)).toEqual([problem]));
});

describe('an unknown key of an operation is refused', () => {
  it.each<[object, string]>([
    [
      { colour: 1 },
      'colour is unknown; known are target, batch, merge, bypass, concurrency, downstream, retry, callbacks, rateLimit, limits, circuit, shards, keepTasks, producers',
    ],
    [{ batch: { maxsize: 5 } }, 'batch.maxsize is unknown; did you mean "maxSize"?'],
    [
      { batch: { colour: 5 } },
      'batch.colour is unknown; known are maxSize, maxBytes, maxWeight, maxWait, quietPeriod, minSize, window',
    ],
    [{ merge: { keys: 'a[]', key: 1 } }, 'merge.key is unknown; did you mean "keys"?'],
    [{ batch: { window: '5m' }, bypass: { bytes: 5, size: 5 } }, 'bypass.size is unknown; known are bytes'],
    [{ concurrency: { pertarget: 1 } }, 'concurrency.pertarget is unknown; did you mean "perTarget"?'],
    [{ retry: { bisekt: true } }, 'retry.bisekt is unknown; did you mean "bisect"?'],
    [{ callbacks: { fail: 'ops' } }, 'callbacks.fail is unknown; did you mean "failed"?'],
    [{ circuit: { cooldown: '5s' } }, 'circuit.cooldown is unknown; did you mean "coolDown"?'],
    [
      { batch: fromJson(PROTO) },
      'batch.__proto__ is unknown; known are maxSize, maxBytes, maxWeight, maxWait, quietPeriod, minSize, window',
    ],
  ])('%#: %s', (operation, problem) => expect(problemsOf(operation)).toEqual([problem]));
});

describe('a configuration as a whole', () => {
  const ship = { target: [], downstream: HTTP };
  it.each<[unknown, string]>([
    [undefined, 'must be an object with "operations", not nothing'],
    [null, 'must be an object with "operations", not null'],
    [[], 'must be an object with "operations", not a list'],
    ['me:s3cret', 'must be an object with "operations", not a text'],
    [{}, 'operations must be an object with operation names as keys, not nothing'],
    [{ operations: {} }, 'operations must name at least one operation'],
    [{ operations: { ship: null } }, 'operations.ship must be an object with "target" and "downstream", not null'],
    [{ operations: { '-': ship } }, `operations.- ${NAME}`],
    [{ operations: { ship }, operation: {} }, 'operation is unknown; did you mean "operations"?'],
    [
      { operations: { ship }, destinations: [] },
      'destinations must be an object with destination names as keys, not a list',
    ],
    [
      { operations: { ship }, destinations: { 'a b': { kind: 'queue', name: 'a' } } },
      'destinations.a b is not a valid name for a destination: begin with a letter, then up to 63 letters, digits, - or _',
    ],
    [
      { operations: fromJson(JSON.stringify({ ship, PROTO: ship }).replace('PROTO', '__proto__')) },
      'operations.__proto__ is a name that JavaScript reserves: choose another',
    ],
    [
      { operations: { ship }, destinations: fromJson(PROTO) },
      'destinations.__proto__ is a name that JavaScript reserves: choose another',
    ],
    [
      { operations: { ship: { ...ship, batch: new Map([['maxSize', 5]]) } } },
      'operations.ship.batch must be a plain object such as {…}, not a Map',
    ],
    [
      { operations: { ship: { ...ship, circuit: new Date(0) } } },
      'operations.ship.circuit must be a plain object such as {…}, not a Date',
    ],
  ])('is refused %#: %s', (input, problem) => expect(problemsIn(input)).toEqual([problem]));

  it.each<[unknown, string]>([
    [{ idleOpen: '59s' }, `fanOuts.idleOpen ${DURATION('1m', '90d')} "59s"`],
    [{ idleSealed: '91d' }, `fanOuts.idleSealed ${DURATION('1m', '90d')} "91d"`],
    [{ keep: 0 }, `fanOuts.keep ${DURATION('1m', '90d')} 0`],
    [{ callback: 7 }, 'fanOuts.callback must be the name of a configured destination, or null for none, not a number'],
    [
      { callback: 'ops' },
      'fanOuts.callback names an unknown destination, "ops": none is configured under "destinations"',
    ],
    [{ idelOpen: '1h' }, 'fanOuts.idelOpen is unknown; did you mean "idleOpen"?'],
    [{ ttl: '1h' }, 'fanOuts.ttl is unknown; known are idleOpen, idleSealed, keep, callback'],
    [null, 'fanOuts must be an object, not null'],
  ])('with these fan-outs is refused %#: %s', (fanOuts, problem) =>
    expect(problemsIn({ operations: { ship }, fanOuts })).toEqual([problem]),
  );

  it.each<[unknown, string]>([
    [{ maxMessages: 0 }, 'register.maxMessages must be a whole number from 1 to 500, not 0'],
    [{ maxMessages: 501 }, 'register.maxMessages must be a whole number from 1 to 500, not 501'],
    [
      { maxMessages: 11 },
      'register.maxMessages must not be more than 10 unless register.maxWait is at least "1s": Lambda collects more only with a batching window',
    ],
    [{ maxWait: '61s' }, `register.maxWait ${DURATION('0ms', '1m')} "61s"`],
    [{ maxWait: '1500ms' }, 'register.maxWait must be whole seconds: Lambda accepts nothing finer'],
    [{ maxMessage: 9 }, 'register.maxMessage is unknown; did you mean "maxMessages"?'],
    [null, 'register must be an object, not null'],
  ])('with this register is refused %#: %s', (register, problem) =>
    expect(problemsIn({ operations: { ship }, register })).toEqual([problem]),
  );

  it.each<[unknown, string]>([
    [{ keep: '59s' }, `lists.keep ${DURATION('1d', '90d')} "59s"`],
    [{ keep: '91d' }, `lists.keep ${DURATION('1d', '90d')} "91d"`],
    [{ callback: 7 }, 'lists.callback must be the name of a configured destination, or null for none, not a number'],
    [
      { callback: 'ops' },
      'lists.callback names an unknown destination, "ops": none is configured under "destinations"',
    ],
    [{ maxDeliveries: 0 }, 'lists.maxDeliveries must be a whole number from 1 to 100, not 0'],
    [{ maxDeliveries: 101 }, 'lists.maxDeliveries must be a whole number from 1 to 100, not 101'],
    [{ maxDeliveries: 2.5 }, 'lists.maxDeliveries must be a whole number from 1 to 100, not 2.5'],
    [{ kepe: '1h' }, 'lists.kepe is unknown; did you mean "keep"?'],
    [{ idleOpen: '1h' }, 'lists.idleOpen is unknown; known are keep, callback, maxDeliveries'],
    [null, 'lists must be an object, not null'],
  ])('with these lists is refused %#: %s', (lists, problem) =>
    expect(problemsIn({ operations: { ship }, lists })).toEqual([problem]),
  );

  const TOPIC =
    'alarms.topic must be the ARN of a standard SNS topic, such as "arn:aws:sns:eu-central-1:111122223333:on-call" (in the region of the deployment), or null for none, not';
  it.each<[unknown, string]>([
    [{ topic: 'on-call' }, `${TOPIC} "on-call"`],
    [{ topic: 'arn:aws:sqs:eu-west-1:111122223333:on-call' }, `${TOPIC} "arn:aws:sqs:eu-west-1:111122223333:on-call"`],
    [{ topic: 'arn:aws:sns:eu-west-1:111122223333:a.fifo' }, `${TOPIC} "arn:aws:sns:eu-west-1:111122223333:a.fifo"`],
    [{ topic: 7 }, `${TOPIC} 7`],
    [{ failedBatches: 0 }, 'alarms.failedBatches must be a whole number from 1 to 1000000, not 0'],
    [
      { runbook: 'https://wiki.example/ops?id=1' },
      'alarms.runbook must be the address or path of docs/how-to/operate.md, without # and ?, not a text',
    ],
    [{ topics: null }, 'alarms.topics is unknown; did you mean "topic"?'],
    [5, 'alarms must be an object, not a number'],
  ])('with these alarms is refused %#: %s', (alarms, problem) =>
    expect(problemsIn({ operations: { ship }, alarms })).toEqual([problem]),
  );

  it('that is a promise is refused as such', () => {
    expect(problemsIn(Promise.resolve({ operations: { ship } }))[0]).toBe(
      'must be a plain object such as {…}, not a Promise',
    );
  });

  it('with a cycle is refused with a reason', () => {
    const round: Record<string, unknown> = { ...ship };
    round.batch = { maxSize: round };
    expect(problemsIn({ operations: { ship: round } })).toEqual([
      'operations.ship.batch.maxSize must be a whole number from 1 to 1000, not an object',
    ]);
  });

  it('is refused with all problems at once', () => {
    expect(problemsOf({ target: 5, batch: { maxSize: 0, minsize: 2 }, shards: 0, retry: null })).toHaveLength(5);
  });
});
