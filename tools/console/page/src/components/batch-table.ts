/** A table of batches. */
import { html, type TemplateResult } from 'lit';
import type { BatchOutline } from '../../../../../src/api/batches/responses.ts';
import { count } from '../base/format.ts';
import { batchStateOf, sealedBecause } from '../model/words.ts';
import { badge, empty, fill, link } from './parts.ts';
import { type Column, table } from './table.ts';

const TARGET: Column<BatchOutline> = { name: 'Target', cell: ({ target }) => link({ view: 'target', target }, target) };

const COLUMNS: readonly Column<BatchOutline>[] = [
  { name: 'Batch', cell: ({ id }) => link({ view: 'batch', id }, `#${id.split('#').slice(-2).join('#')}`) },
  { name: 'Status', cell: (batch) => badge(batchStateOf(batch)) },
  { name: 'Tasks', number: true, cell: ({ size }) => count(size) },
  { name: 'Fill', number: true, cell: (batch) => fill(batch.fill) },
  { name: 'Attempt', number: true, cell: ({ attempt }) => count(attempt) },
  {
    name: 'Last reason',
    minor: true,
    cell: ({ lastAttempt }) =>
      lastAttempt ? html`<span class="clip" title=${lastAttempt.reason}>${lastAttempt.reason}</span>` : '–',
  },
  { name: 'Failed', number: true, cell: ({ counts }) => (counts ? count(counts.failed) : '–') },
  {
    name: 'Sealed because',
    minor: true,
    cell: ({ sealedBy }) => html`<span title=${sealedBecause(sealedBy)}>${sealedBy}</span>`,
  },
  { name: 'Created', number: true, cell: ({ createdAt }) => html`<time-ago at=${createdAt}></time-ago>` },
];

export const batchTable = (
  batches: readonly BatchOutline[] | undefined,
  { showsTarget = false, none }: { readonly showsTarget?: boolean; readonly none?: TemplateResult } = {},
): TemplateResult =>
  table({
    name: 'Batches',
    columns: [...(showsTarget ? [TARGET] : []), ...COLUMNS],
    rows: batches,
    empty:
      none ??
      empty('No batch yet', 'A batch is sealed when it is full, or when its oldest task has waited long enough.'),
  });
