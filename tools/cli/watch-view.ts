/** Draws one picture of `groupage watch`: pure, so that it can be tested without a terminal. */
import { stripVTControlCharacters } from 'node:util';
import type { BatchShape, OperationShape, TargetShape } from '../shapes.ts';
import { ago, dim, green, plural, printable, red } from '../terminal.ts';
import { troubleOf } from './operations.ts';

export interface Snapshot {
  readonly url: string;
  readonly at: number;
  readonly rows: readonly (TargetShape & { readonly batches: readonly BatchShape[] })[];
  readonly operations: readonly OperationShape[];
  /** Whether there are no more Targets than these. */
  readonly isAll: boolean;
}

export interface Screen {
  readonly width: number;
  readonly height: number;
}

type Row = Snapshot['rows'][number];

const BAR = 10;

export const draw = (snapshot: Snapshot, { width, height }: Screen): string => {
  const { rows, at, url } = snapshot;
  const heading = [
    `${'groupage watch'}  ${dim(`${url}  ${new Date(at).toTimeString().slice(0, 8)}  q quits`)}`,
    summary(snapshot),
    ...troubles(snapshot),
    '',
  ];
  if (rows.length === 0)
    return [...heading, 'No task was registered yet. Send one:  groupage send OPERATION PAYLOAD'].join('\n');
  const isNarrow = width < 100;
  const columns = columnsOf(isNarrow);
  const taken = columns.reduce((sum, column) => sum + column.width + GAP.length, 0);
  const nameWidth = Math.min(Math.max(...rows.map(({ target }) => target.length), 6), Math.max(18, width - taken));
  const inColumns = ([name = '', ...cells]: readonly string[]): string =>
    [name.padEnd(nameWidth), ...cells.map((cell, index) => padded(cell, columns[index]?.width ?? 0, index === 0))]
      .join(GAP)
      .trimEnd();
  const paused = new Set(snapshot.operations.filter((each) => each.paused).map(({ operation }) => operation));
  const shown = rows.map((row) => ({ ...row, isHeldUp: paused.has(row.operation) }));
  const lines = shown.toSorted(byUrgency).map((row) => inColumns(cellsOf(row, nameWidth, at, isNarrow)));
  const room = Math.max(1, height - heading.length - 2);
  const more = lines.length > room ? [dim(`… and ${lines.length - room} more`)] : [];
  return [...heading, dim(inColumns(['TARGET', ...columns.map(({ name }) => name)])), ...lines.slice(0, room), ...more]
    .map((text) => cut(text, width))
    .join('\n');
};

const summary = ({ rows, isAll }: Snapshot): string => {
  const sum = (of: (row: Row) => number): number => rows.reduce((total, row) => total + of(row), 0);
  const batches = rows.flatMap((row) => row.batches).filter(({ fill }) => fill !== undefined);
  const failed = sum(failedOf);
  const fill =
    batches.length === 0
      ? ''
      : ` · recent batches ${Math.round((batches.reduce((total, batch) => total + (batch.fill ?? 0), 0) / batches.length) * 100)}% full`;
  const waiting = `${sum((row) => row.waiting).toLocaleString('en')} waiting in ${isAll ? '' : 'the first '}${plural(rows.length, 'Target')}`;
  return `${waiting} · ${plural(
    sum(({ leader }) => (leader ? 1 : 0)),
    'leader',
  )}${fill}${failed > 0 ? ` · ${red(`${plural(failed, 'task')} failed`)}` : ''}`;
};

/** As many operations as are named: on a small screen their Targets want room too. */
const TROUBLES_SHOWN = 3;

/** Operations of which nothing, or not all, goes on. */
const troubles = ({ operations, at }: Snapshot): string[] => {
  const all = operations.flatMap((operation) => troubleOf(operation, at) ?? []);
  const more = all.length - TROUBLES_SHOWN;
  return [
    ...all.slice(0, TROUBLES_SHOWN).map((trouble) => red(printable(trouble))),
    ...(more > 0 ? [red(`… and ${plural(more, 'operation')} more: groupage operations`)] : []),
  ];
};

/** What waits most comes first, then what moved last. */
export const byUrgency = (a: TargetShape & Moved, b: TargetShape & Moved): number =>
  b.waiting - a.waiting ||
  Number(b.leader !== null) - Number(a.leader !== null) ||
  (b.batches?.[0]?.createdAt ?? '').localeCompare(a.batches?.[0]?.createdAt ?? '') ||
  a.target.localeCompare(b.target);

/** Tasks that failed in the batches that are shown. */
const failedOf = ({ batches }: Row): number => batches.reduce((total, { counts }) => total + (counts?.failed ?? 0), 0);

interface Moved {
  readonly batches?: readonly BatchShape[];
}

/** @param row `isHeldUp` where its operation is paused: what waits for that waits in the same queue as for room. */
const cellsOf = (row: Row & HeldUp, nameWidth: number, now: number, isNarrow: boolean): string[] => {
  const [last] = row.batches;
  const failed = failedOf(row);
  const target = printable(row.target);
  const name = target.length > nameWidth ? `…${target.slice(-nameWidth + 1)}` : target;
  return [
    name,
    `${row.waiting.toLocaleString('en')}${row.waitingIsAtLeast ? '+' : ''}`,
    ago(row.oldestAt, now),
    stateOf(row),
    failed > 0 ? red(failed.toLocaleString('en')) : '',
    last ? `${status(last)} ${ago(last.createdAt, now)}` : '',
    last ? fillOf(last, isNarrow) : '',
  ];
};

interface HeldUp {
  readonly isHeldUp: boolean;
}

const stateOf = ({ openBatch, paused, blocked, leader, isHeldUp }: Row & HeldUp): string => {
  if (openBatch) return 'sealing';
  if (paused || (blocked && isHeldUp)) return red('paused');
  if (blocked) return 'no room';
  return leader ? 'waiting' : '';
};

const fillOf = ({ fill = 0, size }: BatchShape, isNarrow: boolean): string =>
  isNarrow ? `${Math.round(fill * 100)}%` : `${bar(fill)} ${size}`;

const status = ({ status, attempt }: BatchShape): string => {
  if (status === 'succeeded') return green(status);
  if (status === 'in-progress') return attempt > 1 ? red(`attempt ${attempt}`) : status;
  return status === 'sealed' || status === 'forming' ? status : red(printable(status));
};

const bar = (fill: number): string =>
  `${'█'.repeat(Math.round(fill * BAR))}${'░'.repeat(BAR - Math.round(fill * BAR))}`;

const GAP = '  ';

/** What is shown of a Target beside its name, with room for it: in 80 columns as much as fits. */
const columnsOf = (isNarrow: boolean): readonly { readonly name: string; readonly width: number }[] => [
  { name: 'WAITING', width: 7 },
  { name: 'OLDEST', width: 6 },
  { name: 'LEADER', width: 7 },
  { name: 'FAILED', width: 6 },
  { name: 'LAST BATCH', width: isNarrow ? 17 : 20 },
  { name: 'FILL', width: isNarrow ? 4 : 15 },
];

/** Colours take no room. */
const padded = (text: string, width: number, right: boolean): string => {
  const space = ' '.repeat(Math.max(0, width - stripVTControlCharacters(text).length));
  return right ? space + text : text + space;
};

/** A line that a terminal would break is cut, and loses its colours. */
export const cut = (text: string, width: number): string =>
  stripVTControlCharacters(text).length <= width ? text : stripVTControlCharacters(text).slice(0, width);
