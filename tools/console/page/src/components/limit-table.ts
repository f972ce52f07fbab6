/** A table of limits: what each allows, and which operations it counts. */
import { html, type TemplateResult } from 'lit';
import type { Limit } from '../../../../../src/api/limits/responses.ts';
import { forEachOf, inProgressOf, startsOf } from '../../../../limit-words.ts';
import { link } from './parts.ts';
import { type Column, table } from './table.ts';

const COLUMNS: readonly Column<Limit>[] = [
  { name: 'Limit', cell: ({ limit }) => link({ view: 'limit', name: limit }, limit) },
  { name: 'Starts', cell: (limit) => startsOf(limit) || '–' },
  { name: 'In progress', cell: (limit) => inProgressOf(limit) || '–' },
  { name: 'For each', cell: (limit) => forEachOf(limit) || '–' },
  {
    name: 'Operations',
    minor: true,
    cell: ({ operations }) =>
      operations.map((name, index) => html`${index === 0 ? '' : ', '}${link({ view: 'operation', name }, name)}`),
  },
];

export const limitTable = (limits: readonly Limit[] | undefined, empty: TemplateResult): TemplateResult =>
  table({ name: 'Limits', columns: COLUMNS, rows: limits, expected: 2, empty });
