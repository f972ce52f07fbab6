/** `groupage send`: registers one task, or a task for each line of a file. */
import { Command, InvalidArgumentError, Option } from 'commander';
import { ulid } from 'ulid';
import { describeProblem } from '../../../src/util/problems.ts';
import { CommandFailure, WrongUsage } from '../../failure.ts';
import { TASK_OPTIONS } from '../../task-options.ts';
import { complain, plural, printable, printJson } from '../../terminal.ts';
import { REGISTERED } from '../shared/answers.ts';
import { type ApiClient, ApiFailure, isRefused } from '../shared/api-client.ts';
import { tokenOfTasks } from '../shared/arguments.ts';
import { type CommonOptions, connect } from '../shared/connect.ts';
import { CHUNK, chunksOf, type Line, messageOf, notAPayload, sizeOf } from '../shared/lines.ts';
import { orInterrupted, progressBar } from '../shared/progress.ts';

interface SendOptions extends CommonOptions {
  readonly file?: string;
  readonly token?: string;
  readonly id?: string;
  /** {@link TASK_OPTIONS}, by the names of their options. */
  readonly [option: string]: unknown;
}

/** The API checks the range. Text that is not a number is refused here, because JSON has no NaN. */
const number = (text: string): number => {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value)) throw new InvalidArgumentError('Give a number.');
  return value;
};

const OPTIONS = TASK_OPTIONS.map(([field, taken]) => {
  const option = new Option(taken.option, taken.help);
  return { field, isForOne: taken.isForOne === true, option: taken.isNumber ? option.argParser(number) : option };
});

/** Options that may apply to all lines of a file. */
const SHARED = OPTIONS.filter(({ isForOne }) => !isForOne);

/** Fields of a register message, taken from the options. */
const optionsIn = (options: SendOptions, some = OPTIONS): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    some.flatMap(({ field, option }) => {
      const value = options[option.attributeName()];
      return value === undefined ? [] : [[field, value]];
    }),
  );

export const sendCommand = (): Command => {
  const command = new Command('send')
    .description('send one task, or a task for each line of a file')
    .argument(
      '[operation]',
      'name of the operation. With --file: if given, each line is a payload; if omitted, each line is a whole message with operation and payload',
    )
    .argument('[payload]', 'payload of the task, as a JSON object')
    .option('--file <path>', 'file of JSON lines to send (- for standard input)')
    .option(
      '--token <text>',
      'name for sending this file; repeating the command with the same token does not send a line twice',
      tokenOfTasks,
    )
    .option(
      '--id <id>',
      'id of the task (default: a new ULID); a second message with this id does not create a second task',
    );
  for (const { option } of OPTIONS) command.addOption(option);
  return command
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
};

const send = async (
  operation: string | undefined,
  payload: string | undefined,
  options: SendOptions,
): Promise<void> => {
  if (options.file === undefined) return sendOne(operation, payload, options);
  if (payload !== undefined) throw new WrongUsage('give either a payload or --file');
  if (options.id !== undefined)
    throw new WrongUsage('--id is for one task; in a file, each line may have its own "id"');
  for (const { option, field, isForOne } of OPTIONS)
    if (isForOne && options[option.attributeName()] !== undefined)
      throw new WrongUsage(`${option.long} is for one task; in a file, each line may have its own "${field}"`);
  const [own] = Object.keys(optionsIn(options, SHARED));
  if (operation === undefined && own !== undefined)
    throw new WrongUsage(
      `without an operation, each line is a whole message and has its own "${own}". Name the operation, or omit this option`,
    );
  return sendFile(operation, options.file, options);
};

const sendOne = async (
  operation: string | undefined,
  payload: string | undefined,
  options: SendOptions,
): Promise<void> => {
  const { id = ulid(), token, json } = options;
  if (operation === undefined || payload === undefined)
    throw new WrongUsage(`give an operation and its payload, e.g.  groupage send report-flights '{"origin":"MUC"}'`);
  const problem = notAPayload(payload);
  if (problem) throw new CommandFailure(`the payload ${problem}`);
  if (token !== undefined) throw new WrongUsage('--token needs --file; for one task use --id');
  const api = await connect(options);
  const body = messageOf({ operation, id, ...optionsIn(options) }, payload);
  try {
    const { text, value } = await api.post('/tasks', body, REGISTERED);
    console.log(json ? printJson(text) : printable(value.ids[0] ?? ''));
  } catch (cause) {
    if (!(cause instanceof CommandFailure) || isRefused(cause)) throw cause;
    throw new CommandFailure(
      `${cause.message}\nThe task may have been registered. To send it again without creating a second task, repeat the command with --id ${JSON.stringify(id)}`,
    );
  }
};

/** One line that was refused, and why. */
interface Refused {
  readonly line: number;
  readonly reason: string;
}

/** How much of a file was sent. */
interface Sent {
  readonly ids: string[];
  readonly refused: Refused[];
  /** The last line that was handled. */
  upTo: number;
  /** Prefix of the ids of tasks whose lines contain no id. */
  readonly token: string;
}

const sendFile = async (operation: string | undefined, file: string, options: SendOptions): Promise<void> => {
  const api = await connect(options);
  const bytes = file === '-' ? 0 : sizeOf(file);
  const sent: Sent = { ids: [], refused: [], upTo: 0, token: options.token ?? ulid() };
  const bar = progressBar(bytes);
  const interrupted = (): void => {
    // Start a new line after the progress bar.
    if (bar) console.error();
    report(sent, options, 'interrupted');
  };
  await orInterrupted(interrupted, async () => {
    try {
      bar?.start('Sending tasks');
      for await (const chunk of chunksOf(file, operation, optionsIn(options, SHARED), sent.token)) {
        const answer = await sendChunk(api, chunk);
        sent.ids.push(...answer.ids);
        sent.refused.push(...answer.refused);
        sent.upTo = chunk.at(-1)?.number ?? sent.upTo;
        const size = chunk.reduce((sum, { bytes: each }) => sum + each, 0);
        bar?.advance(bytes > 0 ? size : 0, `${sent.ids.length.toLocaleString('en')} sent`);
      }
      bar?.stop(`${plural(sent.ids.length, 'task')} sent`);
      report(sent, options);
    } catch (cause) {
      if (!(cause instanceof CommandFailure)) throw cause;
      bar?.error('stopped');
      report(sent, options, cause.message);
    }
  });
};

/** @param stopped why the command ended early. */
const report = ({ ids, refused, upTo, token }: Sent, { json }: SendOptions, stopped?: string): void => {
  const sorted = refused.toSorted((a, b) => a.line - b.line);
  console.log(
    json
      ? printJson(
          JSON.stringify({
            ids,
            refused: sorted,
            ...(stopped === undefined ? {} : { stopped, upToLine: upTo, token }),
          }),
        )
      : `${ids.length} sent, ${refused.length} refused`,
  );
  complain(sorted.map(({ line, reason }) => `line ${line}: ${reason}`));
  if (stopped !== undefined)
    console.error(
      `${printable(stopped)}\nStopped after line ${upTo}. Some of the next ${plural(CHUNK, 'line')} may have been registered. To send the remaining lines without sending a line twice, repeat the command with the same input and with --token ${JSON.stringify(token)}`,
    );
  if (refused.length > 0 || stopped !== undefined) process.exitCode ||= 1;
};

/**
 * Sends a chunk. The API accepts all lines of a request or none, so refused lines are removed and the other lines are
 * sent again.
 */
const sendChunk = async (
  api: ApiClient,
  chunk: readonly Line[],
): Promise<{ readonly ids: readonly string[]; readonly refused: readonly Refused[] }> => {
  const valid = chunk.filter(({ problem }) => problem === undefined);
  const unreadable = chunk.flatMap(({ number: line, problem: reason }) =>
    reason === undefined ? [] : [{ line, reason }],
  );
  if (valid.length === 0) return { ids: [], refused: unreadable };
  try {
    const { value } = await api.post('/tasks', `{"tasks":[${valid.map(({ text }) => text).join(',')}]}`, REGISTERED);
    return { ids: value.ids, refused: unreadable };
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

/** The lines that the API's errors refer to (`tasks[3].payload.depot …`). */
const faultsOf = ({ errors }: ApiFailure, lines: readonly Line[]): Map<Line, string> => {
  const faults = new Map<Line, string>();
  for (const { path, reason } of errors) {
    const [, index, rest = ''] = /^tasks\[(\d+)\]\.?(.*)$/.exec(path) ?? [];
    const line = index === undefined ? undefined : lines[Number(index)];
    // The API's errors have indices of the request; the user needs line numbers of the file.
    const inLines = reason.replaceAll(/\btasks\[(\d+)\]/g, (name, n) => `line ${lines[Number(n)]?.number ?? name}`);
    if (line)
      faults.set(line, [faults.get(line), describeProblem({ path: rest, reason: inLines })].filter(Boolean).join('; '));
  }
  return faults;
};
