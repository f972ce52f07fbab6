/** `groupage lists add`: adds jobs from a file of JSON lines. It holds the lines of one call in memory at most. */
import { ulid } from 'ulid';
import type { Ask } from '../../../../src/client/ask.ts';
import { addCall, inCalls } from '../../../../src/client/list-calls.ts';
import { describeProblem } from '../../../../src/util/problems.ts';
import { CommandFailure, WrongUsage } from '../../../failure.ts';
import { plural, printable, printJson } from '../../../terminal.ts';
import { JOBS_ADDED } from '../../shared/answers.ts';
import { type ApiClient, ApiFailure, isRefused } from '../../shared/api-client.ts';
import { type CommonOptions, connect, toSameApi } from '../../shared/connect.ts';
import { type Line, payloadsIn, sizeOf } from '../../shared/lines.ts';
import { orInterrupted, progressBar } from '../../shared/progress.ts';

interface AddOptions extends CommonOptions {
  readonly token?: string;
}

/** How much of a file was added. */
interface Progress {
  jobs: number;
  /** The last line that was added. */
  upTo: number;
  /** Number of jobs in the list after the last call. */
  total?: number;
}

const asking =
  (api: ApiClient): Ask =>
  async (path, body) =>
    (await api.post(path, String(body), JOBS_ADDED)).value;

export const addJobs = async (id: string, file: string, options: AddOptions): Promise<void> => {
  const { token = ulid(), json = false } = options;
  if (file === '-' && process.stdin.isTTY)
    throw new WrongUsage('name a file of JSON lines, or pipe JSON lines to standard input');
  const bytes = file === '-' ? 0 : sizeOf(file);
  const ask = asking(await connect(options));
  const bar = progressBar(bytes);
  const far: Progress = { jobs: 0, upTo: 0 };
  const again = `To add the remaining lines without adding a line twice, run: groupage lists add ${id} ${JSON.stringify(file)} --token ${JSON.stringify(token)}${toSameApi(options)}`;
  const interrupted = (): void => {
    // Start a new line after the progress bar.
    if (bar) console.error();
    console.error(printable(`Interrupted. ${unknown(far)}. ${again}`));
  };
  const advance = (read: number): void => bar?.advance(bytes > 0 ? read : 0, `${far.jobs.toLocaleString('en')} added`);
  await orInterrupted(interrupted, async () => {
    try {
      bar?.start('Adding jobs');
      await addFile(ask, { id, file, token }, far, advance);
      bar?.stop(`${plural(far.jobs, 'job')} added`);
    } catch (cause) {
      if (!(cause instanceof CommandFailure)) throw cause;
      bar?.error('stopped');
      throw new CommandFailure(`${cause.message}\n${outlook(cause, far, again)}`);
    }
  });
  const { jobs: added, total } = far;
  const has = total === undefined ? '' : `, which now has ${total.toLocaleString('en')} in total`;
  if (json) console.log(printJson(JSON.stringify({ added, total, token })));
  else console.log(printable(`${plural(added, 'job')} added to ${id}${has}`));
};

interface Addition {
  readonly id: string;
  readonly file: string;
  readonly token: string;
}

/** @param advance called with the bytes read since its last call. @throws CommandFailure */
const addFile = async (
  ask: Ask,
  { id, file, token }: Addition,
  far: Progress,
  advance: (read: number) => void,
): Promise<void> => {
  let n = 0;
  for await (const call of inCalls(payloadsIn(file))) {
    far.total = await addLines(ask, id, call, token, n);
    far.jobs += call.length;
    far.upTo = call.at(-1)?.number ?? far.upTo;
    advance(call.reduce((sum, { bytes }) => sum + bytes, 0));
    n += 1;
  }
};

/** Adds the lines of one call, or none of them. @returns the new number of jobs in the list. @throws CommandFailure */
const addLines = async (ask: Ask, id: string, call: readonly Line[], token: string, n: number): Promise<number> => {
  const wrong = call.flatMap(({ number, problem }) => (problem === undefined ? [] : [`line ${number}: ${problem}`]));
  if (wrong.length > 0) throw new WrongLines(wrong);
  try {
    return (await addCall(ask, id, call, token, n)).total;
  } catch (cause) {
    const named = cause instanceof ApiFailure && cause.status === 400 ? faultsOf(cause, call) : [];
    throw named.length > 0 ? new WrongLines(named) : cause;
  }
};

/** Maximum number of wrong lines that are shown. */
const SHOWN = 20;

/** Lines that are not payloads. No line of their call was added. */
class WrongLines extends CommandFailure {
  constructor(lines: readonly string[]) {
    const more = lines.length > SHOWN ? [`… and ${lines.length - SHOWN} more`] : [];
    super([...lines.slice(0, SHOWN), ...more].join('\n'));
  }
}

/** The API's errors (`jobs[3].payload …`) with the line numbers of the file. */
const faultsOf = ({ errors }: ApiFailure, call: readonly Line[]): readonly string[] =>
  errors.flatMap(({ path, reason }) => {
    const [, index, rest = ''] = /^jobs\[(\d+)\]\.?(.*)$/.exec(path) ?? [];
    const line = index === undefined ? undefined : call[Number(index)];
    return line ? [`line ${line.number}: ${describeProblem({ path: rest, reason })}`] : [];
  });

const known = ({ jobs, upTo }: Progress): string =>
  jobs === 0 ? 'No job was added' : `${plural(jobs, 'job')} added, up to line ${upTo}`;

/** Describes what was added if a call got no response. */
const unknown = (far: Progress): string =>
  far.jobs === 0 ? 'Some of the jobs may have been added' : `${known(far)}. More jobs may have been added`;

/** Describes what was added before a failure, and the next step. */
const outlook = (cause: CommandFailure, far: Progress, again: string): string => {
  if (cause instanceof WrongLines) return `${known(far)}. Correct these lines. ${again}`;
  return isRefused(cause) ? known(far) : `${unknown(far)}. ${again}`;
};
