/** The inputs of a request: where `merge.keys` says they are, and what tells one from another. */
import { isObject, parseJson, rawElements, rawMembers } from '../../util/json-text.ts';
import { type Parsed, PROBLEMS_SHOWN, type Problem } from '../../util/problems.ts';
import { payloadHashOf } from '../tasks/task.ts';

/**
 * What tells one input from another: its key as JSON text, so that `"1"` and `1` differ. A producer may have written it
 * in another way (`"\u0061"` is `"a"`, `1.0` is `1`).
 */
export type InputKey = string;

/** An input, as one request has it. */
export interface Input {
  readonly key: InputKey;
  /** JSON text, exactly as sent. */
  readonly text: string;
  /** Of the text: another one is another version of the input. */
  readonly fingerprint: string;
}

/** Each input that was done has a row: one message must not cause any number of them. */
export const INPUTS_MAX = 5_000;

/** `inputs[].id` is a list and the key in its elements; `inputs[]` a list whose elements are the keys. */
interface KeysPath {
  readonly list: readonly string[];
  readonly key: readonly string[];
}

const parsePath = (keys: string): KeysPath => {
  const [list = '', key = ''] = keys.split('[]');
  return { list: list.split('.'), key: key === '' ? [] : key.slice(1).split('.') };
};

/** The key that a value is, or undefined where it is none. Beyond 2^53 two different numbers would read as one. */
export const keyOf = (value: unknown): InputKey | undefined =>
  typeof value === 'string' || (typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER)
    ? JSON.stringify(value)
    : undefined;

/** The keys of a payload's inputs in their order, or what is wrong with them. @param keys `merge.keys` */
export const keysIn = (keys: string, payload: unknown): Parsed<readonly InputKey[]> => {
  const path = parsePath(keys);
  const at = ['payload', ...path.list].join('.');
  const list = valueAt(payload, path.list);
  if (!Array.isArray(list)) {
    const reason = list === undefined ? 'is missing' : 'must be a list';
    return { ok: false, problems: [{ path: at, reason: `${reason}; the operation merges its requests by ${keys}` }] };
  }
  if (list.length > INPUTS_MAX) {
    const reason = `has ${list.length} inputs; a request may have ${INPUTS_MAX}: split it`;
    return { ok: false, problems: [{ path: at, reason }] };
  }
  const found = list.map((element) => keyOf(valueAt(element, path.key)));
  const problems = found.flatMap((key, index): Problem[] =>
    key === undefined ? [{ path: [`${at}[${index}]`, ...path.key].join('.'), reason: KEY_RULE }] : [],
  );
  return problems.length > 0
    ? { ok: false, problems: problems.slice(0, PROBLEMS_SHOWN) }
    : { ok: true, value: found as InputKey[] };
};

export const KEY_RULE = 'must be a string, or a number up to 2^53: it tells one input from another';

/** The inputs of a payload's text, or what is wrong with them. */
export const inputsIn = (keys: string, payload: string): Parsed<readonly Input[]> => {
  const json = parseJson(payload);
  if (!json.ok) return json;
  const found = keysIn(keys, json.value);
  if (!found.ok) return found;
  const list = parsePath(keys).list.reduce((text, name) => rawMembers(text).get(name) ?? '[]', payload);
  const texts = rawElements(list);
  return {
    ok: true,
    value: found.value.map((key, index) => {
      const text = texts[index] ?? 'null';
      return { key, text, fingerprint: payloadHashOf(text) };
    }),
  };
};

/** Own properties only: `constructor` or `__proto__` are no inputs. */
const valueAt = (value: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>(
    (inner, name) => (isObject(inner) && Object.hasOwn(inner, name) ? inner[name] : undefined),
    value,
  );
