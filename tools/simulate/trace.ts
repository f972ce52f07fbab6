/**
 * A trace that is read from a file or the standard input, task by task, in memory that does not grow with it: JSON lines
 * `{"time": …, "operation": …, "payload": {…}}`, or CSV with a header that names these columns. Which of them it is the first
 * character says.
 */

import { type Config, operationNamed } from '../../src/domain/config/resolved.ts';
import type { Millis } from '../../src/domain/ids.ts';
import { linesIn } from '../../src/util/byte-lines.ts';
import { isObject, parseJson, rawMembers } from '../../src/util/json-text.ts';
import { utf8 } from '../../src/util/utf8.ts';

/** What a trace is made of: a task that comes at a moment. */
export interface Arrival {
  /** When it is sent, in milliseconds from the beginning of the trace. None is before the one in front of it. */
  readonly at: Millis;
  readonly operation: string;
  /** JSON text: what the producer sends. */
  readonly payload: string;
}

export type Arrivals = Iterable<Arrival> | AsyncIterable<Arrival>;

/** A line that cannot be used: the file, the line, and why. */
export class InvalidTrace extends Error {
  override readonly name = 'InvalidTrace';
  constructor(file: string, line: number, reason: string) {
    super(`${file}:${line}: ${reason}`);
  }
}

/** What a task of a trace says, before it is looked at. */
interface Row {
  readonly line: number;
  readonly time: unknown;
  readonly operation: unknown;
  /** JSON text. */
  readonly payload: string | undefined;
}

/** A reason why a line is refused. */
class Refusal extends Error {}

/** What a record may have; no task is as large. */
const RECORD_MAX = 1_000_000;

/** What else a register message may say changes its batches, and is not simulated: it would be left out without a word. */
const NOT_SIMULATED = ['priority', 'weight', 'coalesceKey', 'version', 'expiresIn'];

/**
 * The tasks of a trace; times count from its first one. Other fields and columns than these three are passed over.
 *
 * @param file for what is said of lines. @param config has its operations; if that is one, lines need not name it.
 * @throws InvalidTrace for a line that is wrong, and one that is earlier than the one in front of it
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
        throw new Refusal(`time is ${last - moment} ms before that of the task in front of it: sort the trace by time`);
      first ??= moment;
      last = moment;
      yield { at: Math.floor(moment - first), operation: operationOf(row, config), payload: payloadOf(row) };
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
    `operation ${operation === undefined ? 'is missing' : 'is not in the configuration'}: configured are ${known.join(', ')}`,
  );
};

const payloadOf = ({ payload }: Row): string => {
  if (payload === undefined) throw new Refusal('payload is missing');
  const json = parseJson(payload);
  if (!json.ok) throw new Refusal(`payload ${json.problems[0]?.reason}`);
  if (!isObject(json.value)) throw new Refusal('payload must be a JSON object');
  return payload;
};

/** @param at is told which line is being read. */
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
    if (open.text.length > RECORD_MAX) throw new Refusal(`has a quote that is open for ${RECORD_MAX} characters`);
    if (goesOn(open.text)) continue;
    const fields = fieldsOf(open.text.replace(/\r$/, ''));
    if (fields === undefined)
      throw new Refusal('has a quote where none can be: put the whole field in quotes, and double those within');
    if (columns === undefined) columns = header(fields);
    else yield rowOfCsv(open.line, columns, fields);
    open = undefined;
  }
  if (open !== undefined) {
    at(open.line);
    throw new Refusal('has a quote that is not closed');
  }
}

const textOf = (bytes: Buffer, line: number): string => {
  if (bytes.length > RECORD_MAX) throw new Refusal(`has ${bytes.length} bytes: no task is as large`);
  const text = utf8(bytes);
  if (text === undefined) throw new Refusal('is not UTF-8');
  // Some editors begin a file with a byte order mark.
  return line === 1 ? text.replace(/^\ufeff/, '') : text;
};

const rowOfJson = (line: number, text: string): Row => {
  const json = parseJson(text);
  if (!json.ok) throw new Refusal(json.problems[0]?.reason ?? 'is not JSON');
  if (!isObject(json.value)) throw new Refusal('must be a JSON object with "time" and "payload"');
  refuseUnsimulated(Object.keys(json.value));
  const { time, operation } = json.value;
  return { line, time, operation, payload: rawMembers(text).get('payload') };
};

const header = (columns: readonly string[]): readonly string[] => {
  const names = columns.map((name) => name.trim());
  refuseUnsimulated(names);
  for (const name of ['time', 'payload'])
    if (!names.includes(name)) throw new Refusal(`names no column "${name}": begin with time,operation,payload`);
  const twice = names.find((name, index) => names.indexOf(name) < index);
  if (twice !== undefined) throw new Refusal(`names the column ${JSON.stringify(twice)} twice`);
  return names;
};

const rowOfCsv = (line: number, columns: readonly string[], fields: readonly string[]): Row => {
  if (fields.length !== columns.length)
    throw new Refusal(`has ${fields.length} fields, and the header names ${columns.length}`);
  const field = (name: string): string | undefined => fields[columns.indexOf(name)];
  const operation = field('operation');
  return { line, time: field('time'), operation: operation === '' ? undefined : operation, payload: field('payload') };
};

const refuseUnsimulated = (names: readonly string[]): void => {
  const found = NOT_SIMULATED.find((name) => names.includes(name));
  if (found !== undefined) throw new Refusal(`${found} is not simulated: leave it out`);
};

/** So many seconds after 1970 are the year 5138: what is more is milliseconds. */
const MILLIS_FROM = 100_000_000_000;

const ISO = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)(Z|[+-]\d\d:?\d\d)?$/;

const TIME_RULE =
  'must be a moment such as "2026-03-01T08:00:00.250Z", or a number of seconds (from 100,000,000,000 on: of milliseconds since 1970)';

/** Milliseconds since 1970, or since any beginning; without a zone a moment is UTC. Undefined for what is no time. */
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
  // Whole ones: 0.1 + 0.2 s would be before 300 ms otherwise.
  return Math.round(value >= MILLIS_FROM ? value : value * 1_000);
};

/**
 * Records of CSV (RFC 4180): fields in quotes may have commas, quotes that are doubled, and ends of lines.
 *
 * @returns whether a record goes on in the next line: a quote is open.
 */
export const goesOn = (record: string): boolean => {
  let quotes = 0;
  for (let at = record.indexOf('"'); at !== -1; at = record.indexOf('"', at + 1)) quotes += 1;
  return quotes % 2 === 1;
};

/** The fields of a whole record; undefined where a quote stands in a field that has none around it, or behind them. */
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
