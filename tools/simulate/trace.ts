/**
 * Reads a trace from a file or standard input, task by task, in memory that does not grow with it. The format is JSON
 * lines `{"time": …, "operation": …, "payload": {…}, "weight": …}`, or CSV with a header of these columns. The first
 * character of the input determines the format.
 */

import { type Config, operationNamed } from '../../src/domain/config/resolved.ts';
import type { Millis } from '../../src/domain/ids.ts';
import { REGISTER_LIMITS, WEIGHT_RULE } from '../../src/domain/register/register-fields.ts';
import { linesIn } from '../../src/util/byte-lines.ts';
import { isObject, parseJson, rawMembers } from '../../src/util/json-text.ts';
import { isNumberWithin } from '../../src/util/limits.ts';
import { utf8 } from '../../src/util/utf8.ts';

/** A task of a trace. */
export interface Arrival {
  /** Time of its send, in milliseconds since the start of the trace. Never before the previous task. */
  readonly at: Millis;
  readonly operation: string;
  /** The payload as JSON text. */
  readonly payload: string;
  /** @default 1 */
  readonly weight?: number;
}

export type Arrivals = Iterable<Arrival> | AsyncIterable<Arrival>;

/** An invalid line of a trace. The message has the file, the line and the reason. */
export class InvalidTrace extends Error {
  override readonly name = 'InvalidTrace';
  constructor(file: string, line: number, reason: string) {
    super(`${file}:${line}: ${reason}`);
  }
}

/** Fields of a line before validation. */
interface Row {
  readonly line: number;
  readonly time: unknown;
  readonly operation: unknown;
  /** JSON text. */
  readonly payload: string | undefined;
  /** Undefined if the line has none. */
  readonly weight: unknown;
}

/** Why a line is refused. */
class Refusal extends Error {}

/** Maximum bytes of a record; a task is never larger. */
const RECORD_MAX = 1_000_000;

/** Fields of a register message that are not simulated. They are refused, because they would change the batches. */
const NOT_SIMULATED = ['priority', 'coalesceKey', 'version', 'expiresIn'];

/**
 * Reads the tasks of a trace. Times count from the first task. Other fields and columns are ignored.
 *
 * @param file name of the file for messages. @param config the operations; if there is only one, lines need not name it.
 * @throws InvalidTrace for an invalid line, or a line that is earlier than the previous one
 */
export async function* arrivalsIn(
  file: string,
  input: AsyncIterable<Buffer>,
  config: Config,
): AsyncGenerator<Arrival, void> {
  let [first, last, line]: [number | undefined, number, number] = [undefined, 0, 0];
  try {
    for await (const row of rowsIn(input, (at) => (line = at))) {
      line = row.line;
      const moment = momentOf(row.time);
      if (moment === undefined) throw new Refusal(`time ${TIME_RULE}`);
      if (first !== undefined && moment < last)
        throw new Refusal(`time is ${last - moment} ms before that of the previous task. Sort the trace by time`);
      first ??= moment;
      last = moment;
      const at = Math.floor(moment - first);
      yield { at, operation: operationOf(row, config), payload: payloadOf(row), ...weightOf(row) };
    }
  } catch (cause) {
    if (cause instanceof Refusal) throw new InvalidTrace(file, line, cause.message);
    throw cause;
  }
}

const operationOf = ({ operation }: Row, config: Config): string => {
  const known = Object.keys(config.operations);
  const [only] = known;
  if (operation === undefined && known.length === 1 && only !== undefined) return only;
  if (typeof operation === 'string' && operationNamed(config, operation)) return operation;
  throw new Refusal(
    `operation ${operation === undefined ? 'is missing' : 'is not in the configuration'}; configured: ${known.join(', ')}`,
  );
};

const payloadOf = ({ payload }: Row): string => {
  if (payload === undefined) throw new Refusal('payload is missing');
  const json = parseJson(payload);
  if (!json.ok) throw new Refusal(`payload ${json.problems[0]?.reason}`);
  if (!isObject(json.value)) throw new Refusal('payload must be a JSON object');
  return payload;
};

const weightOf = ({ weight }: Row): Pick<Arrival, 'weight'> => {
  if (weight === undefined) return {};
  if (typeof weight === 'number' && isNumberWithin(weight, REGISTER_LIMITS.weight)) return { weight };
  throw new Refusal(`weight ${WEIGHT_RULE}`);
};

/** @param at called with the number of the line before it is parsed. */
async function* rowsIn(input: AsyncIterable<Buffer>, at: (line: number) => void): AsyncGenerator<Row> {
  let columns: readonly string[] | undefined;
  let isFirst = true;
  let open: { readonly line: number; readonly text: string } | undefined;
  let line = 0;
  for await (const bytes of linesIn(input)) {
    line += 1;
    at(open?.line ?? line);
    const text = textOf(bytes, line);
    if (open === undefined && text.trim() === '') continue;
    const isJson: boolean = columns === undefined && (!isFirst || text.trimStart().startsWith('{'));
    isFirst = false;
    if (isJson) {
      yield rowOfJson(line, text);
      continue;
    }
    open = { line: open?.line ?? line, text: open === undefined ? text : `${open.text}\n${text}` };
    if (open.text.length > RECORD_MAX)
      throw new Refusal(`has an opening quote that is not closed within ${RECORD_MAX} characters`);
    if (goesOn(open.text)) continue;
    const fields = fieldsOf(open.text.replace(/\r$/, ''));
    if (fields === undefined)
      throw new Refusal(
        'has a quote inside an unquoted field. Put the whole field in quotes, and double the quotes inside',
      );
    if (columns === undefined) columns = header(fields);
    else yield rowOfCsv(open.line, columns, fields);
    open = undefined;
  }
  if (open !== undefined) {
    at(open.line);
    throw new Refusal('has an opening quote that is not closed');
  }
}

const textOf = (bytes: Buffer, line: number): string => {
  if (bytes.length > RECORD_MAX)
    throw new Refusal(`has ${bytes.length} bytes, more than the ${RECORD_MAX} that a task may have`);
  const text = utf8(bytes);
  if (text === undefined) throw new Refusal('is not UTF-8');
  // Some editors start a file with a byte order mark.
  return line === 1 ? text.replace(/^\ufeff/, '') : text;
};

const rowOfJson = (line: number, text: string): Row => {
  const json = parseJson(text);
  if (!json.ok) throw new Refusal(json.problems[0]?.reason ?? 'is not JSON');
  if (!isObject(json.value)) throw new Refusal('must be a JSON object with "time" and "payload"');
  refuseUnsimulated(Object.keys(json.value));
  const { time, operation, weight } = json.value;
  return { line, time, operation, payload: rawMembers(text).get('payload'), weight };
};

const header = (columns: readonly string[]): readonly string[] => {
  const names = columns.map((name) => name.trim());
  refuseUnsimulated(names);
  for (const name of ['time', 'payload'])
    if (!names.includes(name)) throw new Refusal(`has no column "${name}". Start the file with time,operation,payload`);
  const twice = names.find((name, index) => names.indexOf(name) < index);
  if (twice !== undefined) throw new Refusal(`has the column ${JSON.stringify(twice)} twice`);
  return names;
};

const rowOfCsv = (line: number, columns: readonly string[], fields: readonly string[]): Row => {
  if (fields.length !== columns.length)
    throw new Refusal(`has ${fields.length} fields, but the header has ${columns.length}`);
  const field = (name: string): string | undefined => fields[columns.indexOf(name)];
  const given = (name: string): string | undefined => field(name) || undefined;
  const weight = given('weight');
  return {
    line,
    time: field('time'),
    operation: given('operation'),
    payload: field('payload'),
    weight: weight === undefined ? undefined : Number(weight),
  };
};

const refuseUnsimulated = (names: readonly string[]): void => {
  const found = NOT_SIMULATED.find((name) => names.includes(name));
  if (found !== undefined) throw new Refusal(`${found} cannot be simulated. Remove this field`);
};

/** Numbers of this size or more are milliseconds. If they were seconds, the times would be after the year 5138. */
const MILLIS_FROM = 100_000_000_000;

const ISO = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)(Z|[+-]\d\d:?\d\d)?$/;

const TIME_RULE =
  'must be a time such as "2026-03-01T08:00:00.250Z", or a number of seconds (from 100,000,000,000 on: milliseconds since 1970)';

/** Milliseconds since 1970, or since any other start. A time without a zone is UTC. Undefined if the text is not a time. */
export const momentOf = (time: unknown): Millis | undefined => {
  if (typeof time === 'number') return fromNumber(time);
  if (typeof time !== 'string') return undefined;
  const text = time.trim();
  if (/^\d+(?:\.\d+)?$/.test(text)) return fromNumber(Number(text));
  const [, day, clock, zone = 'Z'] = ISO.exec(text) ?? [];
  if (day === undefined) return undefined;
  const moment = Date.parse(`${day}T${clock}${zone.replace(/^([+-]\d\d)(\d\d)$/, '$1:$2')}`);
  return Number.isNaN(moment) ? undefined : moment;
};

const fromNumber = (value: number): Millis | undefined => {
  if (!Number.isFinite(value) || value < 0) return undefined;
  // Round to whole milliseconds, so that rounding errors do not change the order of times.
  return Math.round(value >= MILLIS_FROM ? value : value * 1_000);
};

/**
 * Whether a CSV record continues in the next line, because a quote is open. Quoted fields may contain commas, doubled
 * quotes and line breaks (RFC 4180).
 */
export const goesOn = (record: string): boolean => {
  let quotes = 0;
  for (let at = record.indexOf('"'); at !== -1; at = record.indexOf('"', at + 1)) quotes += 1;
  return quotes % 2 === 1;
};

/** Fields of a complete record; undefined if there is a quote inside an unquoted field, or text after a closing quote. */
export const fieldsOf = (record: string): readonly string[] | undefined => {
  const fields: string[] = [];
  for (let at = 0; at <= record.length; ) {
    const end = record[at] === '"' ? endOfQuoted(record, at) : endOfPlain(record, at);
    if (end === undefined || (end < record.length && record[end] !== ',')) return undefined;
    const field = record.slice(at, end);
    fields.push(record[at] === '"' ? field.slice(1, -1).replaceAll('""', '"') : field);
    at = end + 1;
  }
  return fields;
};

const endOfPlain = (record: string, from: number): number | undefined => {
  const comma = record.indexOf(',', from);
  const end = comma === -1 ? record.length : comma;
  const quote = record.indexOf('"', from);
  return quote !== -1 && quote < end ? undefined : end;
};

const endOfQuoted = (record: string, from: number): number | undefined => {
  let quote = record.indexOf('"', from + 1);
  while (record[quote + 1] === '"') quote = record.indexOf('"', quote + 2);
  return quote === -1 ? undefined : quote + 1;
};
