/** The table of operations: state, throughput, and the calls that batching saved. */
import { html, type TemplateResult } from 'lit';
import type { Operation } from '../../../../../src/api/operations/responses.ts';
import type { TargetPage } from '../../../../../src/api/targets/responses.ts';
import { count, percent, rate } from '../base/format.ts';
import type { Page } from '../base/screen.ts';
import { type OperationRow, operationRows } from '../model/operation-rows.ts';
import { badge, empty, link } from './parts.ts';
import { type Column, table } from './table.ts';
import { inBatches } from './under-way.ts';

const COLUMNS: readonly Column<OperationRow>[] = [
  { name: 'Operation', cell: ({ operation }) => link({ view: 'operation', name: operation }, operation) },
  { name: 'State', cell: ({ state }) => badge(state) },
  {
    name: 'Slots',
    number: true,
    minor: true,
    cell: ({ slots }) => (slots ? `${count(slots.taken)} of ${count(slots.total)}` : '–'),
  },
  {
    name: 'Waiting',
    number: true,
    cell: ({ operation, waiting }) =>
      waiting === undefined
        ? '–'
        : waiting.tasks === 0 && !waiting.isAtLeast
          ? '0'
          : link({ view: 'targets', operation, sort: 'waiting' }, count(waiting.tasks, waiting.isAtLeast)),
  },
  { name: 'In batches', number: true, cell: ({ underWay }) => inBatches(underWay) },
  { name: 'Registered / min', number: true, cell: ({ rates }) => (rates ? rate(rates.registered) : '–') },
  { name: 'Ended / min', number: true, cell: ({ rates }) => (rates ? rate(rates.ended) : '–') },
  { name: 'Registered', number: true, cell: ({ totals }) => number(totals?.tasksRegistered) },
  { name: 'Succeeded', number: true, cell: ({ totals }) => number(totals?.tasksSucceeded) },
  { name: 'Failed', number: true, cell: ({ totals }) => failed(totals?.tasksFailed) },
  { name: 'Batches', number: true, minor: true, cell: ({ totals }) => number(totals?.batches) },
  { name: 'Calls', number: true, cell: ({ totals }) => number(totals?.calls) },
  {
    name: 'Calls saved',
    number: true,
    cell: ({ totals, savedShare }) =>
      totals && savedShare !== undefined
        ? html`<strong>${count(totals.callsSaved)}</strong> <span class="muted">${percent(savedShare)}</span>`
        : '–',
  },
];

const number = (value: number | undefined): string => count(value ?? 0);
const failed = (value = 0): unknown => (value > 0 ? html`<strong class="bad">${count(value)}</strong>` : '0');

export const operationTable = (
  { live }: Page,
  operations: readonly Operation[] | undefined,
  targets: ReadonlyMap<string, TargetPage>,
): TemplateResult =>
  table({
    name: 'Operations',
    columns: COLUMNS,
    rows: operations && operationRows(operations, targets, live.metrics),
    expected: 1,
    empty: empty('No operation is configured', 'Add one to groupage.config.ts.'),
  });
