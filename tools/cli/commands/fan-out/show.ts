/** Output of `groupage fan-out show`, `list` and `watch`. */
import { setTimeout } from 'node:timers/promises';
import { type AddedGroup, pathOf } from '../../../../src/client/fan-out-calls.ts';
import type { FanOutId } from '../../../../src/domain/fan-out-ids.ts';
import { sentItemId } from '../../../../src/domain/fan-outs/item-token.ts';
import { CommandFailure } from '../../../failure.ts';
import { lowerBound } from '../../../lower-bounds.ts';
import { ago, cut, fields, green, moment, plural, printable, printJson, red, table } from '../../../terminal.ts';
import { FAN_OUT, type FanOutOutlineShape, type FanOutShape } from '../../shared/answers.ts';
import { type ApiClient, ApiFailure } from '../../shared/api-client.ts';
import { type CommonOptions, connect } from '../../shared/connect.ts';

interface WatchOptions extends CommonOptions {
  readonly every: number;
}

const START_OF_LINE = '\r\u001b[K';

/** `groupage fan-out watch ID`: one line, redrawn on a terminal. Without a terminal, a new line for each change. */
export const watchFanOut = async (id: string, { every, ...options }: WatchOptions): Promise<void> => {
  const api = await connect(options);
  const isLive = process.stdout.isTTY && !options.json;
  let shown = '';
  for (let isFirst = true; ; isFirst = false) {
    const from = performance.now();
    const answer = isFirst ? await look(api, id) : await lookAgain(api, id, isLive);
    if (answer) {
      const line = options.json ? printJson(answer.text) : progressLine(answer.value);
      if (isLive) process.stdout.write(`${START_OF_LINE}${cut(line, process.stdout.columns)}`);
      else if (line !== shown) console.log(line);
      shown = line;
      const { status } = answer.value;
      if (status === 'complete' || status === 'expired') {
        if (isLive) process.stdout.write(`${START_OF_LINE}${line}\n`);
        if (status === 'expired') process.exitCode = 1;
        return;
      }
    }
    // Counting a large fan-out may take long. Wait at least as long as the count took, to limit the load on the stack.
    await setTimeout(Math.max(every * 1_000, performance.now() - from));
  }
};

const look = (api: ApiClient, id: string) => api.get(pathOf(id), FAN_OUT);

/** Retries while the stack restarts or is busy. Other refusals, such as an unknown fan-out, are final. */
const lookAgain = async (api: ApiClient, id: string, isLive: boolean) => {
  try {
    return await look(api, id);
  } catch (cause) {
    const isFinal = cause instanceof ApiFailure && cause.status < 500 && cause.status !== 429;
    if (!(cause instanceof CommandFailure) || isFinal) throw cause;
    console.error(`${isLive ? START_OF_LINE : ''}${printable(cause.message)}; retrying …`);
    return undefined;
  }
};

const coloured = ({ status, because }: FanOutShape): string => {
  const text = because === undefined || because === 'all-done' ? status : `${status} (${reason(because)})`;
  if (status === 'complete') return because === 'too-many-failed' ? red(printable(text)) : green(text);
  return status === 'expired' ? red(printable(text)) : text;
};

/** Describes a reason. A reason from a later release has no description here, so its code is shown. */
const reason = (because: string): string => {
  switch (because) {
    case 'too-many-failed':
      return 'too many items failed';
    case 'idle':
      return 'idle for too long';
    default:
      return because;
  }
};

const number = (count: number): string => count.toLocaleString('en');

const tolerated = (failFast: NonNullable<FanOutShape['failFast']>): string =>
  'count' in failFast
    ? plural(Number(failFast.count), 'item')
    : `${Number((Number(failFast.share) * 100).toPrecision(12))}% of the items`;

const nextStep = ({ id, failed, allSucceededAt }: FanOutShape): string | undefined =>
  failed > 0 && allSucceededAt === undefined
    ? `list the failed items: groupage fan-out show ${printable(id)} --failed`
    : undefined;

export const describe = (fanOut: FanOutShape): string => {
  const { id, total, succeeded, failed, pending, countsAreAtLeast, userKey, callback, failFast, createdAt, endedAt } =
    fanOut;
  const failures = lowerBound(failed, countsAreAtLeast);
  return fields([
    ['id', printable(id)],
    ['status', coloured(fanOut)],
    ['items', number(total)],
    ['succeeded', succeeded === undefined ? undefined : number(succeeded)],
    ['failed', failed > 0 ? red(failures) : failures],
    ['pending', pending === undefined ? undefined : number(pending)],
    ['user key', userKey && printable(userKey)],
    ['callback', callback && printable(callback)],
    ['tolerates', failFast && `up to ${tolerated(failFast)} failed`],
    ['first failure', fanOut.firstFailure && printable(fanOut.firstFailure)],
    ['opened', moment(createdAt)],
    ['ended', endedAt && moment(endedAt)],
    ['all succeeded', fanOut.allSucceededAt && `${moment(fanOut.allSucceededAt)}, by redrives`],
    [
      'waits for',
      !endedAt && (pending ?? total) > 0
        ? `list the pending items: groupage fan-out items ${printable(id)} --status pending`
        : undefined,
    ],
    ['next', nextStep(fanOut)],
  ]);
};

export const fanOutsTable = (fanOuts: readonly FanOutOutlineShape[]): string =>
  table(
    ['FAN-OUT', 'STATUS', 'ITEMS', 'AGE', 'USER KEY'],
    fanOuts.map(({ id, status, because, total, createdAt, userKey }) => [
      id,
      because === undefined || because === 'all-done' ? status : `${status} (${reason(because)})`,
      total,
      ago(createdAt),
      userKey ?? '',
    ]),
  );

const BAR = 20;

/** The progress of a fan-out in one line. */
export const progressLine = (fanOut: FanOutShape): string => {
  const { id, total, failed, pending } = fanOut;
  const failures = failed > 0 ? ` · ${red(`${number(failed)} failed`)}` : '';
  if (pending === undefined) return `${printable(id)}  ${coloured(fanOut)} · ${plural(total, 'item')}${failures}`;
  const done = total - pending;
  const filled = total === 0 ? 0 : Math.floor((done / total) * BAR);
  const bar = `${'█'.repeat(filled)}${'░'.repeat(BAR - filled)}`;
  return `${printable(id)}  ${bar}  ${number(done)} of ${number(total)} done${failures} · ${coloured(fanOut)}`;
};

/** The added groups, and the ids with tokens of their first and last items. Groups of the same size share a line. */
export const groupsTable = (fanOut: string, groups: readonly AddedGroup[]): string => {
  const runs: { first: number; last: number; count: number }[] = [];
  for (const { id, count } of groups) {
    const run = runs.at(-1);
    if (run && run.last + 1 === id && run.count === count) run.last = id;
    else runs.push({ first: id, last: id, count });
  }
  const idOf = (group: number, index: number): string =>
    sentItemId(groups[0]?.itemKey, { fanOut: fanOut as FanOutId, group, index });
  const rows = runs.map(({ first, last, count }) => [
    first === last ? String(first) : `${first} to ${last}`,
    count,
    idOf(first, 0),
    idOf(last, count - 1),
  ]);
  return table(['GROUP', 'ITEMS EACH', 'FIRST', 'LAST'], rows);
};
