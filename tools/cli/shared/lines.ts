/** Reads the lines of a file as register messages or as payloads. */
import { createReadStream, statSync } from 'node:fs';
import { withId } from '../../../src/domain/register/register-body.ts';
import { PAYLOAD_MAX_BYTES } from '../../../src/domain/tasks/task.ts';
import { linesIn } from '../../../src/util/byte-lines.ts';
import { isObject, parseJson } from '../../../src/util/json-text.ts';
import { reasonOf } from '../../../src/util/problems.ts';
import { utf8 } from '../../../src/util/utf8.ts';
import { CommandFailure } from '../../failure.ts';

/** Maximum number of tasks that one request registers. */
export const CHUNK = 1_000;
/**
 * Maximum bytes of the lines of one request. Lambda accepts an event of 6 MiB (6,291,456 bytes). The event contains the
 * body as a JSON string, in which each quote counts twice. The remaining bytes are for headers and for the JSON array
 * around the lines.
 */
const CHUNK_BYTES = 5_500_000;
/** Maximum bytes of one message. */
const LINE_BYTES = 1_000_000;

/** Size of a file in bytes. @throws CommandFailure */
export const sizeOf = (file: string): number => {
  try {
    const found = statSync(file);
    if (!found.isDirectory()) return found.size;
  } catch (cause) {
    throw new CommandFailure(`${file} cannot be read: ${reasonOf(cause)}`);
  }
  throw new CommandFailure(`${file} is a folder. Name a file of JSON lines.`);
};

/** Inserts the payload as it was written: parsing could change its numbers. */
export const messageOf = (fields: object, payload: string): string =>
  `${JSON.stringify(fields).slice(0, -1)},"payload":${payload}}`;

/** Checks the payload before it is inserted into a message, because invalid text could add other fields to the message. */
export const notAPayload = (text: string): string | undefined => {
  const json = parseJson(text);
  if (!json.ok) return json.problems[0]?.reason;
  return isObject(json.value) ? undefined : 'must be a JSON object';
};

export interface Line {
  readonly number: number;
  readonly text: string;
  readonly bytes: number;
  /** Why the line cannot be sent. Only problems that can be found without the API are reported here. */
  readonly problem?: string;
}

/**
 * The lines of a file as register messages, in chunks of one request each. Empty lines are skipped.
 *
 * @param operation operation of the tasks if the lines are payloads; absent if they are whole messages.
 * @param fields further fields of each message if the lines are payloads.
 * @param token together with the line number, the id of a task whose line contains no id. The same file and token
 * result in the same tasks.
 */
export async function* chunksOf(
  file: string,
  operation: string | undefined,
  fields: object,
  token: string,
): AsyncGenerator<Line[]> {
  let chunk: Line[] = [];
  let bytes = 0;
  for await (const line of linesOf(file, operation, fields, token)) {
    const inEvent = Buffer.byteLength(JSON.stringify(line.text));
    if (chunk.length === CHUNK || (chunk.length > 0 && bytes + inEvent > CHUNK_BYTES)) {
      yield chunk;
      chunk = [];
      bytes = 0;
    }
    chunk.push(line);
    bytes += inEvent;
  }
  if (chunk.length > 0) yield chunk;
}

/** Padded, so that ids sort in the order of the lines. */
const idOfLine = (token: string, number: number): string => `${token}-${String(number).padStart(9, '0')}`;

async function* linesOf(
  file: string,
  operation: string | undefined,
  fields: object,
  token: string,
): AsyncGenerator<Line> {
  const problemOf = operation === undefined ? notJson : notAPayload;
  for await (const { number, line, bytes: read } of textsOf(file)) {
    if (line === undefined) {
      yield { number, text: '', bytes: read, problem: NOT_UTF8 };
      continue;
    }
    const id = idOfLine(token, number);
    const text = operation === undefined ? withId(line, id) : messageOf({ operation, id, ...fields }, line);
    const bytes = Buffer.byteLength(text) + 1;
    const problem =
      bytes > LINE_BYTES ? `has ${bytes} bytes, more than the ${LINE_BYTES} that a task may have` : problemOf(line);
    yield { number, text, bytes, ...(problem === undefined ? {} : { problem }) };
  }
}

/** The lines of a file as payloads, as they were written. Empty lines are skipped. @throws CommandFailure */
export async function* payloadsIn(file: string): AsyncGenerator<Line> {
  for await (const { number, line, bytes } of textsOf(file)) {
    const size = Buffer.byteLength(line ?? '');
    const large = `has ${size} bytes, but a payload has at most ${PAYLOAD_MAX_BYTES}`;
    const problem = line === undefined ? NOT_UTF8 : size > PAYLOAD_MAX_BYTES ? large : notAPayload(line);
    yield { number, text: line ?? '', bytes, ...(problem === undefined ? {} : { problem }) };
  }
}

const NOT_UTF8 = 'is not UTF-8';

/**
 * The lines of a file that are not empty, each with its size in bytes. `line` is undefined if the line is not UTF-8.
 *
 * @throws CommandFailure
 */
async function* textsOf(
  file: string,
): AsyncGenerator<{ readonly number: number; readonly line: string | undefined; readonly bytes: number }> {
  const input = file === '-' ? process.stdin : createReadStream(file);
  let number = 0;
  try {
    for await (const read of linesIn(input)) {
      number += 1;
      const decoded = utf8(read);
      // Some editors begin a file with a byte order mark.
      const line = (number === 1 ? decoded?.replace(/^\ufeff/, '') : decoded)?.replace(/\r$/, '');
      if (line?.trim() !== '') yield { number, line, bytes: read.length + 1 };
    }
  } catch (cause) {
    if (!(cause instanceof Error && 'syscall' in cause)) throw cause;
    throw new CommandFailure(`${file} cannot be read: ${cause.message}`);
  }
}

const notJson = (text: string): string | undefined => {
  const json = parseJson(text);
  return json.ok ? undefined : json.problems[0]?.reason;
};
