/** Reads the inputs of a request at the path `merge.keys`, and identifies each by its key. */
import { isReadExactly, mayBeRounded } from '../../util/json-number.ts';
import { isObject, parseJson, rawElements, rawMembers } from '../../util/json-text.ts';
import { type Parsed, PROBLEMS_SHOWN, type Problem } from '../../util/problems.ts';
import { payloadHashOf } from '../tasks/task.ts';

/**
 * Identifies an input: its key as JSON text, so that `"1"` and `1` differ. The text is normalised, because producers
 * may write one key in several ways (`"\u0061"` is `"a"`, `1.0` is `1`).
 */
export type InputKey = string;

/** An input of one request. */
export interface Input {
  readonly key: InputKey;
  /** JSON text, exactly as sent. */
  readonly text: string;
  /** A hash of the text. An input with the same key and another text is another version of the input. */
  readonly fingerprint: string;
}

/**
 * Most inputs of one request. Each input that is done needs a row, so one message must not cause an unlimited number.
 */
export const INPUTS_MAX = 5_000;

/**
 * The parsed path: `inputs[].id` means the list `inputs` and the key `id` in its elements; `inputs[]` is a list whose
 * elements are the keys.
 */
interface KeysPath {
  readonly list: readonly string[];
  readonly key: readonly string[];
}

const parsePath = (keys: string): KeysPath => {
  const [list = '', key = ''] = keys.split('[]');
  return { list: list.split('.'), key: key === '' ? [] : key.slice(1).split('.') };
};

/**
 * The key for a value, or undefined if the value cannot be a key. A number beyond 2^53 is no key, because two different
 * numbers could be read as the same value.
 */
export const keyOf = (value: unknown): InputKey | undefined =>
  typeof value === 'string' || (typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER)
    ? JSON.stringify(value)
    : undefined;

/**
 * The keys of a payload's inputs in their order, or what is wrong with them.
 *
 * @param keys `merge.keys`
 * @param text of the payload, as it was sent
 */
export const keysIn = (keys: string, payload: unknown, text: string): Parsed<readonly InputKey[]> => {
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
  const values = list.map((element) => valueAt(element, path.key));
  const texts = values.some((value) => typeof value === 'number') && mayBeRounded(text) ? textsOf(path, text) : [];
  const found = values.map(keyOf);
  const problems = found.flatMap((key, index): Problem[] => {
    const isRounded = typeof values[index] === 'number' && !isReadExactly(texts[index] ?? '', path.key);
    return key === undefined || isRounded
      ? [{ path: [`${at}[${index}]`, ...path.key].join('.'), reason: isRounded ? ROUNDED : KEY_RULE }]
      : [];
  });
  return problems.length > 0
    ? { ok: false, problems: problems.slice(0, PROBLEMS_SHOWN) }
    : { ok: true, value: found as InputKey[] };
};

export const KEY_RULE = 'must be a string, or a number up to 2^53, because it identifies the input';
const ROUNDED = 'is a number with too many digits to be read exactly, and it identifies the input; send it as a string';

/** The texts of the list's elements. */
const textsOf = ({ list }: KeysPath, payload: string): readonly string[] =>
  rawElements(list.reduce((text, name) => rawMembers(text).get(name) ?? '[]', payload));

/** The inputs of a payload's text, or what is wrong with them. */
export const inputsIn = (keys: string, payload: string): Parsed<readonly Input[]> => {
  const json = parseJson(payload);
  if (!json.ok) return json;
  const found = keysIn(keys, json.value, payload);
  if (!found.ok) return found;
  const texts = textsOf(parsePath(keys), payload);
  return {
    ok: true,
    value: found.value.map((key, index) => {
      const text = texts[index] ?? 'null';
      return { key, text, fingerprint: payloadHashOf(text) };
    }),
  };
};

/** The value at a path in a payload. Inherited names such as `constructor` or `__proto__` do not count. */
const valueAt = (value: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>(
    (inner, name) => (isObject(inner) && Object.hasOwn(inner, name) ? inner[name] : undefined),
    value,
  );
