/**
 * Returns parts of a JSON text exactly as they were written.
 *
 * A payload is stored and sent on as the producer wrote it. Parsing and printing it again would round numbers beyond
 * 2^53, reorder integer-like keys and change escapes. These functions do not check the text: their callers have parsed
 * it with `JSON.parse` before.
 */
import { type Parsed, reasonOf } from './problems.ts';

/**
 * A text with more brackets and commas than this is not parsed. In six megabytes of `[],` each pair of brackets becomes
 * an object, and all these objects need more memory than a function has. (Six megabytes of six-digit numbers have fewer
 * commas.)
 */
const MARKS_MAX = 1_000_000;

/**
 * Bytes of a text inside a JSON string, as in the body of a function's event or answer, where each quote and backslash
 * takes two. Lambda counts these bytes, and accepts at most six megabytes.
 */
export const bytesInString = (text: string): number => Buffer.byteLength(JSON.stringify(text));

/** Parses a JSON text. The reason of a failure quotes nothing of the text, because reasons are logged. */
export const parseJson = (text: string): Parsed<unknown> => {
  if (hasTooManyMarks(text))
    return refused(
      `has more than ${MARKS_MAX} brackets and commas: split the content into several messages or requests`,
    );
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch (cause) {
    return refused(`is not JSON: ${reasonOf(cause).replace(QUOTATION, '')}`);
  }
};

const refused = (reason: string): Parsed<unknown> => ({ ok: false, problems: [{ path: '', reason }] });

/** The part of V8's message that quotes the text around an unexpected token. */
const QUOTATION = /, (?:\.\.\.)?".*"(?:\.\.\.)? is not valid JSON$/s;

/** Counts the marks outside of strings. */
const hasTooManyMarks = (text: string): boolean => {
  if (text.length <= MARKS_MAX) return false;
  let marks = 0;
  for (let at = 0; at < text.length && marks <= MARKS_MAX; at += 1) {
    const character = text[at];
    if (character === '"') {
      const end = endOfString(text, at);
      if (end === UNENDED) return false;
      at = end - 1;
    } else if (character === ',' || character === '[' || character === '{') marks += 1;
  }
  return marks > MARKS_MAX;
};

/** Whether a JSON value is an object, and not an array or null. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * The members of the object in `text`: decoded key to raw value. Of two equal keys the last one counts, as in
 * JSON.parse.
 */
export const rawMembers = (text: string): ReadonlyMap<string, string> => {
  const members = new Map<string, string>();
  let at = skipSpace(text, 0) + 1;
  for (;;) {
    at = skipSpace(text, at);
    if (text[at] !== '"') return members;
    const keyEnd = endOfString(text, at);
    const key = JSON.parse(text.slice(at, keyEnd)) as string;
    const start = skipSpace(text, skipSpace(text, keyEnd) + 1);
    const end = endOfValue(text, start);
    members.set(key, text.slice(start, end));
    at = skipSpace(text, end) + 1;
  }
};

/** The raw elements of the array in `text`. */
export const rawElements = (text: string): readonly string[] => {
  const elements: string[] = [];
  let at = skipSpace(text, skipSpace(text, 0) + 1);
  while (text[at] !== ']') {
    const end = endOfValue(text, at);
    elements.push(text.slice(at, end));
    const next = skipSpace(text, end);
    at = text[next] === ',' ? skipSpace(text, next + 1) : next;
  }
  return elements;
};

const SPACE = /[ \t\n\r]*/y;
const SCALAR = /[^,\]}\s]+/y;
/**
 * Characters that do not change the depth, skipped in one step. A quote begins a string, in which brackets do not
 * count.
 */
const PLAIN = /[^"[\]{}]*/y;

const matchEnd = (pattern: RegExp, text: string, from: number): number => {
  pattern.lastIndex = from;
  pattern.test(text);
  return pattern.lastIndex;
};

const skipSpace = (text: string, from: number): number => matchEnd(SPACE, text, from);

/** Returned as the end of a string that has no closing quote. */
const UNENDED = 0;

const endOfString = (text: string, from: number): number => {
  let quote = from;
  let backslashes: number;
  do {
    quote = text.indexOf('"', quote + 1);
    if (quote === -1) return UNENDED;
    backslashes = 0;
    while (text[quote - 1 - backslashes] === '\\') backslashes += 1;
  } while (backslashes % 2 === 1);
  return quote + 1;
};

const endOfValue = (text: string, from: number): number => {
  if (text[from] === '"') return endOfString(text, from);
  if (text[from] !== '{' && text[from] !== '[') return matchEnd(SCALAR, text, from);
  let depth = 0;
  let at = from;
  do {
    const character = text[at];
    if (character === '"') at = endOfString(text, at);
    else {
      depth += character === '{' || character === '[' ? 1 : -1;
      at += 1;
    }
    at = depth === 0 ? at : matchEnd(PLAIN, text, at);
  } while (depth > 0);
  return at;
};

/** Escapes two characters that JSON allows in a string and SQS refuses in a message. */
export const sendable = (json: string): string =>
  json.replaceAll(/[\ufffe\uffff]/g, (character) => `\\u${character.charCodeAt(0).toString(16)}`);
