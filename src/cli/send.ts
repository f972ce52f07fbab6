/** `groupage send`: registers one task, or the lines of a file. */
import { createReadStream, existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { progress } from '@clack/prompts';
import { Command } from 'commander';
import { type ApiClient, ApiFailure, apiClient, CommandFailure, WrongUsage } from './api-client.ts';
import type { CommonOptions } from './shapes.ts';

interface SendOptions extends CommonOptions {
  readonly file?: string;
  readonly id?: string;
  readonly correlationId?: string;
}

/** What one request of the API takes. */
const CHUNK = 1_000;

export const sendCommand = (): Command =>
  new Command('send')
    .description('register one task, or many from a file of JSON lines')
    .argument(
      '[operation]',
      'the operation; with --file each line is then a payload, without it a whole register message',
    )
    .argument('[payload]', 'the payload, as JSON')
    .option('--file <path>', 'JSON lines to send; - is the standard input')
    .option('--id <id>', 'name the task: another one with this id is the same task')
    .option('--correlation-id <text>', 'shown with the task, for who looks for it')
    .addHelpText(
      'after',
      `
Examples:
  groupage send report-flights '{"origin":"MUC","destination":"JFK","delay":12}'
  groupage send report-flights --file flights.jsonl
  generate-messages | groupage send --file -`,
    )
    .action((operation: string | undefined, payload: string | undefined, options: SendOptions) =>
      send(operation, payload, options),
    );

const send = async (
  operation: string | undefined,
  payload: string | undefined,
  options: SendOptions,
): Promise<void> => {
  if (options.file === undefined) return sendOne(operation, payload, options);
  if (payload !== undefined) throw new WrongUsage('give a payload or a file, not both');
  if (options.id !== undefined) throw new WrongUsage('--id names one task; in a file each line may bring its own "id"');
  return sendFile(operation, options.file, options);
};

const sendOne = async (
  operation: string | undefined,
  payload: string | undefined,
  { id, correlationId, api, json }: SendOptions,
): Promise<void> => {
  if (operation === undefined || payload === undefined)
    throw new WrongUsage(`give an operation and its payload, e.g.  groupage send report-flights '{"origin":"MUC"}'`);
  // The payload is spliced in as it was typed: parsing it could change its numbers.
  const extra = JSON.stringify({ operation, id, correlationId }).slice(0, -1);
  const { text, value } = await apiClient(api).post('/tasks', `${extra},"payload":${payload}}`);
  console.log(json ? text : (value as { ids: string[] }).ids[0]);
};

/** One line that was refused, and why. */
interface Refused {
  readonly line: number;
  readonly reason: string;
}

const sendFile = async (operation: string | undefined, file: string, options: SendOptions): Promise<void> => {
  if (file !== '-' && !existsSync(file)) throw new CommandFailure(`there is no file ${file}`);
  const api = apiClient(options.api);
  const bar = process.stderr.isTTY ? progress({ max: 1, indicator: 'timer', output: process.stderr }) : undefined;
  bar?.start('Sending tasks');
  const ids: string[] = [];
  const refused: Refused[] = [];
  for await (const chunk of chunksOf(file, operation, options.correlationId)) {
    const answer = await sendChunk(api, chunk);
    ids.push(...answer.ids);
    refused.push(...answer.refused);
    bar?.message(`${ids.length.toLocaleString('en')} sent`);
  }
  bar?.stop(`${ids.length.toLocaleString('en')} tasks sent`);
  console.log(options.json ? JSON.stringify({ ids, refused }) : `${ids.length} sent, ${refused.length} refused`);
  if (refused.length === 0) return;
  for (const { line, reason } of refused.slice(0, 20)) console.error(`line ${line}: ${reason}`);
  if (refused.length > 20) console.error(`… and ${refused.length - 20} more`);
  process.exitCode = 1;
};

interface Line {
  readonly number: number;
  readonly text: string;
}

/** The lines of a file as register messages, in chunks. Empty lines are nothing. */
async function* chunksOf(
  file: string,
  operation: string | undefined,
  correlationId: string | undefined,
): AsyncGenerator<Line[]> {
  const head = operation === undefined ? undefined : JSON.stringify({ operation, correlationId }).slice(0, -1);
  const input = file === '-' ? process.stdin : createReadStream(file);
  let chunk: Line[] = [];
  let number = 0;
  for await (const text of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
    number += 1;
    if (text.trim() === '') continue;
    chunk.push({ number, text: head === undefined ? text : `${head},"payload":${text}}` });
    if (chunk.length === CHUNK) {
      yield chunk;
      chunk = [];
    }
  }
  if (chunk.length > 0) yield chunk;
}

/** Sends a chunk; the API takes all or nothing, so lines that it names are left out and the others sent again. */
const sendChunk = async (api: ApiClient, chunk: readonly Line[]): Promise<{ ids: string[]; refused: Refused[] }> => {
  const [valid, unreadable] = sortLines(chunk);
  if (valid.length === 0) return { ids: [], refused: unreadable };
  try {
    const { value } = await api.post('/tasks', `{"tasks":[${valid.map(({ text }) => text).join(',')}]}`);
    return { ids: (value as { ids: string[] }).ids, refused: unreadable };
  } catch (cause) {
    const faults = cause instanceof ApiFailure && cause.status === 400 ? faultsOf(cause, valid) : undefined;
    if (!faults || faults.size === 0) throw cause;
    const rest = await sendChunk(
      api,
      valid.filter((line) => !faults.has(line)),
    );
    const refused = [...faults].map(([{ number: line }, reason]) => ({ line, reason }));
    return { ids: rest.ids, refused: [...unreadable, ...refused, ...rest.refused] };
  }
};

const sortLines = (chunk: readonly Line[]): [Line[], Refused[]] => {
  const refused = chunk.flatMap(({ number: line, text }): Refused[] => {
    try {
      JSON.parse(text);
      return [];
    } catch {
      return [{ line, reason: 'is not JSON' }];
    }
  });
  const bad = new Set(refused.map(({ line }) => line));
  return [chunk.filter(({ number }) => !bad.has(number)), refused];
};

/** Which lines the API's errors name (`tasks[3].payload.depot …`). */
const faultsOf = ({ errors }: ApiFailure, lines: readonly Line[]): Map<Line, string> => {
  const faults = new Map<Line, string>();
  for (const { path, reason } of errors) {
    const [, index, rest = ''] = /^tasks\[(\d+)\]\.?(.*)$/.exec(path) ?? [];
    const line = index === undefined ? undefined : lines[Number(index)];
    if (line) faults.set(line, [faults.get(line), `${rest} ${reason}`.trim()].filter(Boolean).join('; '));
  }
  return faults;
};
