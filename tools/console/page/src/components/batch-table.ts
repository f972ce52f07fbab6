/** A table of batches, the newest first. */
import { html, type TemplateResult } from 'lit';
import type { BatchOutline } from '../../../../../src/api/batches/responses.ts';
import { count } from '../base/format.ts';
import { batchState, sealedBecause } from '../model/words.ts';
import { badge, empty, fill, link } from './parts.ts';
import { type Column, table } from './table.ts';

const COLUMNS: readonly Column<BatchOutline>[] = [
  { name: 'Batch', cell: ({ id }) => link({ view: 'batch', id }, `#${id.split('#').slice(-2).join('#')}`) },
  { name: 'Status', cell: ({ status }) => badge(batchState(status)) },
  { name: 'Tasks', number: true, cell: ({ size }) => count(size) },
  { name: 'Fill', number: true, cell: (batch) => fill(batch.fill) },
  { name: 'Attempt', number: true, cell: ({ attempt }) => count(attempt) },
  { name: 'Failed', number: true, cell: ({ counts }) => (counts ? count(counts.failed) : '–') },
  {
    name: 'Sealed because',
    minor: true,
    cell: ({ sealedBy }) => html`<span title=${sealedBecause(sealedBy)}>${sealedBy}</span>`,
  },
  { name: 'Created', number: true, cell: ({ createdAt }) => html`<time-ago at=${createdAt}></time-ago>` },
];

export const batchTable = (batches: readonly BatchOutline[] | undefined): TemplateResult =>
  table({
    name: 'Batches, the newest first',
    columns: COLUMNS,
    rows: batches,
    empty: empty('No batch yet', 'A batch is sealed when it is full, or when its oldest task has waited long enough.'),
  });
