import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parseDuration } from '../../src/domain/config/duration.ts';
import { idempotencyKey } from '../../src/domain/downstream/downstream.ts';
import { batchIdOf } from '../../src/domain/ids.ts';
import { withId } from '../../src/domain/register/register-body.ts';
import { parseRegisterMessage } from '../../src/domain/register/register-message.ts';
import { printRejection } from '../../src/domain/register/rejection.ts';
import { printItem } from '../../src/domain/tasks/task.ts';
import { isObject, parseJson } from '../../src/util/json-text.ts';
import type { Problem } from '../../src/util/problems.ts';
import { aConfig, aPolicy, NOW, operationName } from '../factories/factories.ts';
import { committed, validator } from '../published/ajv.ts';
import { fuzz } from './fuzz.ts';
import { anObject, asSent, nameText, nearly, objectText, space, stringText, valueText } from './json-texts.ts';

const operations = aConfig(
  { keys: ['depot', 'a.b'] },
  { operation: operationName('plain'), keys: [], batch: aPolicy({ maxBytes: 1_000 }) },
  { operation: operationName('roomy'), keys: [] },
  { operation: operationName('constructor'), keys: ['__proto__', 'constructor'], shards: 9 },
);
const config = { ...operations, destinations: { ops: { kind: 'queue', name: 'ops' } } as const };
const MESSAGE_ID = '0b5e4f6a-1c2d-4e3f-8a9b-0c1d2e3f4a5b';
const parse = (body: string, messageId = MESSAGE_ID) => parseRegisterMessage(config, { messageId, body });

const seldomOdd = (right: fc.Arbitrary<string>, odd: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.oneof({ weight: 9, arbitrary: right }, { weight: 1, arbitrary: odd });
const id = seldomOdd(
  fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._:@-]{0,20}$/).map((text) => JSON.stringify(text)),
  stringText,
);
const groupingValue = seldomOdd(
  fc.oneof(stringText, fc.constantFrom('true', '0', '-0', '1.5', '"\\u00fc"')),
  valueText,
);
const payloads = {
  ship: nearly({ depot: groupingValue, a: nearly({ b: groupingValue }), rest: valueText }),
  constructor: nearly({ ['__proto__']: groupingValue, constructor: groupingValue, rest: anObject }),
  plain: anObject,
  none: anObject,
};
const wished = {
  priority: seldomOdd(fc.constantFrom('0', '9', '5.0', '1e0'), valueText),
  weight: seldomOdd(fc.constantFrom('1', '0.5', '1e9', '1e-130'), valueText),
  coalesceKey: seldomOdd(fc.constantFrom('" k "', '"\\u00fc"'), stringText),
  expiresIn: seldomOdd(fc.constantFrom('"1s"', '"30d"'), stringText),
  callback: seldomOdd(fc.constant('"ops"'), stringText),
  fanOutItem: seldomOdd(fc.constantFrom('"f:0:17"', '"\\u0066:1:0"'), stringText),
};
/** Messages of an operation: with all fields, and with the required ones only. */
const messages = Object.entries(payloads).flatMap(([name, payload]) => {
  const operation = fc.constantFrom(
    JSON.stringify(name),
    JSON.stringify(name),
    `"\\u00${name.charCodeAt(0).toString(16)}${name.slice(1)}"`,
  );
  const arbitrary = fc.oneof(
    nearly({ operation, payload, id, correlationId: seldomOdd(fc.constant('"c"'), stringText) }),
    nearly({ operation, payload, ...wished }),
    nearly({ operation, payload }),
  );
  return { weight: name === 'none' ? 1 : 4, arbitrary };
});
const body = asSent(fc.oneof(...messages));

/** The options of a message that differ from the defaults. */
const wishesOf = (fields: Partial<Record<string, unknown>>): Record<string, unknown> => {
  const own = (name: string): unknown => (Object.hasOwn(fields, name) ? fields[name] : undefined);
  const expiresIn = own('expiresIn');
  return {
    priority: own('priority') || undefined,
    weight: own('weight') === 1 ? undefined : own('weight'),
    coalesceKey: own('coalesceKey'),
    expiresIn: typeof expiresIn === 'string' ? parseDuration(expiresIn) : expiresIn,
    callback: own('callback'),
    fanOutItem: own('fanOutItem'),
  };
};
const isNamed = ({ path, reason }: Problem): boolean =>
  typeof path === 'string' && typeof reason === 'string' && reason !== '';
const isPlain = (value: object): boolean => Object.getPrototypeOf(value) === Object.prototype;
const ownId = (value: unknown): unknown => (isObject(value) && Object.hasOwn(value, 'id') ? value.id : MESSAGE_ID);

it('a register message becomes a task as sent, or is refused with a reason', () =>
  fuzz(body, ['accepted', 'refused', 'no JSON'], (text) => {
    const parsed = parse(text);
    if (!parsed.ok) {
      if (parsed.problems.length === 0 || !parsed.problems.every(isNamed))
        throw new Error(`the message was rejected with ${JSON.stringify(parsed)}`);
      const rejection = printRejection({ messageId: MESSAGE_ID, body: text, problems: parsed.problems, at: NOW });
      expect(JSON.parse(rejection)).toMatchObject({ body: text.isWellFormed() ? text : expect.any(String) });
      return parsed.problems[0]?.reason.startsWith('is not JSON') ? 'no JSON' : 'refused';
    }
    const { value: task } = parsed;
    const sent = JSON.parse(text) as { id?: string; operation: string; payload: object; correlationId?: string };
    // Of several equal names the last one counts, as in JSON.parse, with its exact text.
    expect([task.operation, task.id, task.correlationId]).toEqual([
      sent.operation,
      ownId(sent),
      Object.hasOwn(sent, 'correlationId') ? sent.correlationId : undefined,
    ]);
    if (!text.includes(task.payload) || !isDeepStrictEqual(JSON.parse(task.payload), sent.payload))
      throw new Error(`the task has the payload ${task.payload}`);
    expect(JSON.parse(printItem(task.id, task.payload)).id).toBe(task.id);
    expect(task.id).toMatch(/^[A-Za-z0-9][A-Za-z0-9._:@-]{0,127}$/);
    expect(task.target).toMatch(/^(ship|plain|constructor)[A-Za-z0-9_.!*'()%=/-]{0,512}(~\d)?$/);
    const key = idempotencyKey({ batchId: batchIdOf(task.target, 1, 1), items: [task] });
    expect(new Headers({ 'idempotency-key': key }).get('idempotency-key')).toBe(key);
    expect(wishesOf(task)).toEqual(wishesOf(JSON.parse(text)));
    expect(task.ahead === undefined).toBe(task.priority === undefined);
    if (!isPlain(task)) throw new Error('the task has another prototype');
    return 'accepted';
  }));

const validate = validator(committed('register-message.schema.json'));
/** Only the configuration, or a count of bytes or code units, can decide these; the schema's description says so. */
const isBeyondSchema = ({ path, reason }: Problem, message: unknown): boolean =>
  ['operation', 'callback', 'expiresIn'].includes(path) ||
  /^payload\b/.test(path) ||
  (path === 'weight' && reason.includes('batch.maxWeight')) ||
  (isObject(message) && ['coalesceKey', 'correlationId'].includes(path) && !isPlainText(message[path]));
const isPlainText = (text: unknown): boolean =>
  typeof text === 'string' && text.isWellFormed() && [...text].length === text.length;

it('an accepted message fits the schema, and one that fits is refused for other reasons', () =>
  fuzz(body, ['fits and is taken', 'does not fit and is refused', 'fits and is refused', 'no JSON'], (text) => {
    const parsed = parse(text);
    const json = parseJson(text);
    if (!json.ok) return 'no JSON';
    const fits = validate(json.value);
    if (parsed.ok && !fits)
      throw new Error(`an accepted message violates the schema: ${JSON.stringify(validate.errors)}`);
    if (!fits) return 'does not fit and is refused';
    if (parsed.ok) return 'fits and is taken';
    expect(parsed.problems.filter((problem) => !isBeyondSchema(problem, json.value))).toEqual([]);
    return 'fits and is refused';
  }));

it('a payload arrives byte for byte, whatever surrounds it', () =>
  fuzz(
    fc.tuple(
      fc.array(fc.tuple(nameText, valueText), { maxLength: 4 }),
      fc.array(anObject, { maxLength: 2 }),
      space,
      space,
    ),
    ['accepted'],
    ([members, earlier, inside, around]) => {
      const sent = objectText(members, inside);
      const fields: [string, string][] = [
        ...earlier.map((each): [string, string] => ['"payload"', each]),
        ['"operation"', '"roomy"'],
        ['"p\\u0061yload"', sent],
      ];
      const parsed = parse(`${around}${objectText(fields, around)}${around}`);
      // A payload larger than a batch of its operation is refused.
      if (!parsed.ok)
        expect(parsed.problems).toMatchObject([{ path: 'payload', reason: expect.stringContaining('batch.maxBytes') }]);
      else expect(parsed.value.payload).toBe(sent);
      return 'accepted';
    },
  ));

it('a message that gets its id at the first delivery keeps everything else', () =>
  fuzz(body, ['named', 'left'], (text) => {
    const named = withId(text, MESSAGE_ID);
    if (named === text) {
      const parsed = parse(text);
      if (parsed.ok) expect(Object.hasOwn(JSON.parse(text), 'id')).toBe(true);
      return 'left';
    }
    expect(named.endsWith(text.slice(text.indexOf('{') + 1))).toBe(true);
    const members = JSON.parse(named) as Record<string, unknown>;
    const { id: first, ...others } = Object.fromEntries(Object.entries(members));
    expect(first).toBe(MESSAGE_ID);
    if (!isDeepStrictEqual(others, Object.fromEntries(Object.entries(JSON.parse(text)))))
      throw new Error(`the message became ${named}`);
    expect(withId(named, 'another')).toBe(named);
    // A later registration gives the same task, or the same refusal.
    expect(parse(named, 'another')).toEqual(parse(text));
    return 'named';
  }));
