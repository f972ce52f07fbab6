/** `groupage status ID`: shows a task. */
import { setTimeout } from 'node:timers/promises';
import { Command, InvalidArgumentError } from 'commander';
import { rawMembers } from '../../../src/util/json-text.ts';
import { CommandFailure, WrongUsage } from '../../failure.ts';
import { shownOptions } from '../../task-options.ts';
import { ahead, fields, green, moment, printable, printJson, red } from '../../terminal.ts';
import { TASK, type TaskShape } from '../shared/answers.ts';
import { type ApiClient, ApiFailure } from '../shared/api-client.ts';
import { someId } from '../shared/arguments.ts';
import { type CommonOptions, connect } from '../shared/connect.ts';

interface StatusOptions extends CommonOptions {
  readonly wait?: boolean;
  readonly timeout: number;
}

const seconds = (text: string): number => {
  const value = Number(text);
  if (!(value > 0)) throw new InvalidArgumentError('Give a number of seconds above 0.');
  return value;
};

export const statusCommand = (): Command =>
  new Command('status')
    .description('show a task: its status, its batch, its result or its error')
    .argument('[id]', 'id of the task', someId)
    .usage('[options] <id>')
    .option('--wait', 'wait until the task has ended (exit status 1 if it failed)')
    .option('--timeout <seconds>', 'maximum wait, in seconds', seconds, 300)
    .addHelpText('after', '\nFor an overview: groupage operations, groupage targets or groupage tasks.')
    .action((id: string | undefined, options: StatusOptions) => status(given(id), options));

/** The id is optional only so that its absence is explained. */
const given = (id: string | undefined): string => {
  if (id !== undefined) return id;
  throw new WrongUsage(
    'groupage status shows one task, so it needs the id of the task: groupage status ID. groupage send prints the id, and groupage tasks lists waiting tasks. For an overview: groupage operations or groupage targets',
  );
};

const status = async (id: string, options: StatusOptions): Promise<void> => {
  const api = await connect(options);
  const answer = options.wait
    ? await waitForEnd(api, id, options.timeout)
    : await api.get(`/tasks/${encodeURIComponent(id)}`, TASK);
  const task = answer.value;
  console.log(options.json ? printJson(answer.text) : describe(task, rawMembers(answer.text)));
  if (options.wait && task.status === 'failed') process.exitCode = 1;
};

/** An unknown task may still be in the register queue, so keep waiting for it. */
const waitForEnd = async (api: ApiClient, id: string, timeout: number) => {
  const deadline = Date.now() + timeout * 1_000;
  for (;;) {
    const answer = await lookUp(api, id, Date.now() < deadline);
    const state = answer?.value.status;
    if (answer && (state === 'succeeded' || state === 'failed')) return answer;
    if (Date.now() >= deadline)
      throw new CommandFailure(
        `task ${id} is still ${state ?? 'unknown'} after ${timeout} s. Wait longer with --timeout <seconds>`,
      );
    await setTimeout(250);
  }
};

const lookUp = async (api: ApiClient, id: string, mayBeUnknown: boolean) => {
  try {
    return await api.get(`/tasks/${encodeURIComponent(id)}`, TASK);
  } catch (cause) {
    if (mayBeUnknown && cause instanceof ApiFailure && cause.status === 404) return undefined;
    throw cause;
  }
};

const coloured = (status: TaskShape['status']): string =>
  status === 'failed' ? red(status) : status === 'succeeded' ? green(status) : status;

/** Replace line breaks between the parts of a JSON text, so that they are not shown as control characters. */
const shown = (raw: ReadonlyMap<string, string>, name: string): string | undefined => {
  const text = raw.get(name);
  return text && printable(text.replaceAll(/\s+/g, ' '));
};

/** The earliest time of the next attempt. The attempt may start later, because its message may arrive later. */
const attemptAfter = (iso: string): string => {
  const left = ahead(iso);
  return `${printable(iso)} (${left === undefined ? 'due' : `in ${left}`})`;
};

const until = (iso: string): string => {
  const left = ahead(iso);
  return `${printable(iso)} (${left === undefined ? 'over' : `in ${left}`})`;
};

/** @param raw fields of the response as raw text: parsing could change a payload's numbers. */
const describe = (task: TaskShape, raw: ReadonlyMap<string, string>): string =>
  fields([
    ['id', printable(task.id)],
    ['status', coloured(task.status)],
    ['target', printable(task.target)],
    ['batch', task.batchId && printable(task.batchId)],
    ['attempts', task.attempts > 0 ? String(task.attempts) : undefined],
    ['next attempt', task.nextAttemptAfter && attemptAfter(task.nextAttemptAfter)],
    ['last attempt', task.lastReason && printable(task.lastReason)],
    ['waits for', task.waitsFor && printable(task.waitsFor.text)],
    ['created', moment(task.createdAt)],
    ['finished', task.finishedAt && moment(task.finishedAt)],
    ...shownOptions(task, 'cli').map(({ name, text }) => [name, printable(text)] as const),
    ['start by', task.startBy && until(task.startBy)],
    ['superseded', task.supersededBy && `by the newer task ${printable(task.supersededBy)}, which runs instead`],
    [
      'error',
      task.error &&
        red(printable(`${task.error.code}: ${task.error.message}${task.error.retriable ? ' (a retry may help)' : ''}`)),
    ],
    ['next', task.status === 'failed' ? nextOf(task) : undefined],
    [
      'result',
      shown(raw, 'result') ??
        (task.resultOmitted && `not stored: a result of ${task.resultOmitted.bytes} bytes is too large`),
    ],
    ['payload', shown(raw, 'payload')],
  ]);

/** What to do about a failed task. A redrive sends the same payload again. */
const nextOf = ({ id, error }: TaskShape): string =>
  error && !error.retriable
    ? `fix the cause, then run it again: groupage redrive ${printable(id)}. If its payload is at fault, send a corrected task under another id`
    : `run it again: groupage redrive ${printable(id)}`;
