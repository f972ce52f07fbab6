/**
 * JSON pointers (RFC 6901) into a JSON text. They read and set values exactly as they are written, like
 * {@link rawMembers}, and like it they do not check the text: their callers have parsed it before.
 */
import { rawElements, rawMembers } from './json-text.ts';

/** A pointer as it is written: `""` for the whole value, `/data/0/id` for a part. */
export const POINTER_PATTERN = /^(?:\/(?:[^~/]|~[01])*)*$/;

/** A pointer is a path of names and of numbers of elements. */
export type Pointer = readonly string[];

export const parsePointer = (text: string): Pointer =>
  text
    .split('/')
    .slice(1)
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));

const isObjectText = (text: string): boolean => text.trimStart().startsWith('{');

/** The value at a pointer, as it is written. Undefined if there is none. */
export const rawAt = (text: string, pointer: Pointer): string | undefined =>
  pointer.reduce<string | undefined>((within, name) => (within === undefined ? undefined : partOf(within, name)), text);

const partOf = (text: string, name: string): string | undefined => {
  if (isObjectText(text)) return rawMembers(text).get(name);
  return text.trimStart().startsWith('[') && /^(?:0|[1-9]\d*)$/.test(name)
    ? rawElements(text)[Number(name)]
    : undefined;
};

/**
 * Sets the value at a pointer, and makes objects on the way to it.
 *
 * @returns undefined if a value on the way is no object
 */
export const withRawAt = (text: string, pointer: Pointer, value: string): string | undefined => {
  const [name, ...rest] = pointer;
  if (name === undefined) return value;
  if (!isObjectText(text)) return undefined;
  const members = new Map(rawMembers(text));
  const inner = withRawAt(members.get(name) ?? '{}', rest, value);
  if (inner === undefined) return undefined;
  members.set(name, inner);
  return `{${[...members].map(([key, each]) => `${JSON.stringify(key)}:${each}`).join(',')}}`;
};
