/** Draws one picture of `groupage watch`: pure, so that it can be tested without a terminal. */
import { stripVTControlCharacters } from 'node:util';
import { ago, dim, green, red } from './output.ts';
import type { BatchShape, TargetShape } from './shapes.ts';

export interface Snapshot {
  readonly url: string;
  readonly at: number;
  readonly rows: readonly (TargetShape & { readonly batches: readonly BatchShape[] })[];
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
    '',
  ];
  if (rows.length === 0)
    return [...heading, 'No task was registered yet. Send one:  groupage send OPERATION PAYLOAD'].join('\n');
  const nameWidth = Math.min(Math.max(...rows.map(({ target }) => target.length), 6), Math.max(20, width - 74));
  const lines = rows.toSorted(byUrgency).map((row) => line(row, nameWidth, at));
  const room = Math.max(1, height - heading.length - 2);
  const more = lines.length > room ? [dim(`… and ${lines.length - room} more`)] : [];
  return [
    ...heading,
    dim(columns('TARGET', nameWidth, ['WAITING', 'OLDEST', 'LEADER', 'LAST BATCH', 'FILL', 'FAILED'])),
    ...lines.slice(0, room),
    ...more,
  ]
    .map((text) => cut(text, width))
    .join('\n');
};

const summary = ({ rows, isAll }: Snapshot): string => {
  const sum = (of: (row: Row) => number): number => rows.reduce((total, row) => total + of(row), 0);
  const batches = rows.flatMap((row) => row.batches).filter(({ fill }) => fill !== undefined);
  const failed = sum(({ batches: recent }) => recent.reduce((total, { counts }) => total + (counts?.failed ?? 0), 0));
  const fill =
    batches.length === 0
      ? ''
      : ` · recent batches ${Math.round((batches.reduce((total, batch) => total + (batch.fill ?? 0), 0) / batches.length) * 100)}% full`;
  const waiting = `${sum((row) => row.waiting).toLocaleString('en')} waiting in ${rows.length}${isAll ? '' : '+'} Targets`;
  return `${waiting} · ${sum(({ leader }) => (leader ? 1 : 0))} leaders${fill}${failed > 0 ? ` · ${red(`${failed} tasks failed`)}` : ''}`;
};

/** What waits most comes first, then what moved last. */
const byUrgency = (a: Row, b: Row): number =>
  b.waiting - a.waiting ||
  (b.batches[0]?.createdAt ?? '').localeCompare(a.batches[0]?.createdAt ?? '') ||
  a.target.localeCompare(b.target);

const line = (row: Row, nameWidth: number, now: number): string => {
  const [last] = row.batches;
  const failed = row.batches.reduce((total, { counts }) => total + (counts?.failed ?? 0), 0);
  const leader = row.openBatch ? 'sealing' : row.leader ? 'waiting' : '';
  const name = row.target.length > nameWidth ? `…${row.target.slice(-nameWidth + 1)}` : row.target;
  return columns(name, nameWidth, [
    `${row.waiting.toLocaleString('en')}${row.waitingIsAtLeast ? '+' : ''}`,
    ago(row.oldestAt, now),
    leader,
    last ? `${status(last)} ${ago(last.createdAt, now)}` : '',
    last ? `${bar(last.fill ?? 0)} ${last.size}` : '',
    failed > 0 ? red(String(failed)) : '',
  ]);
};

const status = ({ status, attempt }: BatchShape): string => {
  if (status === 'succeeded') return green(status);
  if (status === 'in-progress') return attempt > 1 ? red(`attempt ${attempt}`) : status;
  return status === 'sealed' || status === 'forming' ? status : red(status);
};

const bar = (fill: number): string =>
  `${'█'.repeat(Math.round(fill * BAR))}${'░'.repeat(BAR - Math.round(fill * BAR))}`;

const WIDTHS = [8, 7, 8, 20, 15, 6];

const columns = (name: string, nameWidth: number, cells: readonly string[]): string =>
  [name.padEnd(nameWidth), ...cells.map((cell, index) => padded(cell, WIDTHS[index] ?? 0, index === 0))]
    .join('  ')
    .trimEnd();

/** Colours take no room. */
const padded = (text: string, width: number, right: boolean): string => {
  const space = ' '.repeat(Math.max(0, width - stripVTControlCharacters(text).length));
  return right ? space + text : text + space;
};

const cut = (text: string, width: number): string =>
  stripVTControlCharacters(text).length <= width ? text : stripVTControlCharacters(text).slice(0, width);
