/** A table of Targets, with the number of waiting tasks, the age of the oldest waiting task, and the leader. */
import { html, nothing, type TemplateResult } from 'lit';
import type { Target } from '../../../../../src/api/targets/responses.ts';
import { count } from '../base/format.ts';
import { mainReason } from '../model/under-way.ts';
import { targetState } from '../model/words.ts';
import { badge, link } from './parts.ts';
import { type Column, table } from './table.ts';
import { inBatches } from './under-way.ts';

/** The API counts failed tasks of a Target up to this number. */
const FAILED_COUNTED = 100;

const columns = (now: number): readonly Column<Target>[] => [
  { name: 'Target', cell: ({ target }) => link({ view: 'target', target }, target) },
  { name: 'State', cell: (target) => badge(targetState(target, now)) },
  { name: 'Waiting', number: true, cell: ({ waiting, waitingIsAtLeast }) => count(waiting, waitingIsAtLeast) },
  {
    name: 'Oldest',
    number: true,
    cell: ({ oldestAt }) => (oldestAt ? html`<time-ago at=${oldestAt} form="age"></time-ago>` : '–'),
  },
  { name: 'In batches', number: true, cell: ({ underWay }) => inBatches(underWay) },
  { name: 'Why', minor: true, cell: ({ underWay }) => (underWay ? (mainReason(underWay) ?? '–') : '–') },
  {
    name: 'Failed',
    number: true,
    cell: ({ failed }) => (failed === undefined ? '–' : count(failed, failed >= FAILED_COUNTED)),
  },
  {
    name: 'Leader',
    minor: true,
    cell: ({ leader }) =>
      leader ? html`fence ${count(leader.fence)}, lease ends <time-ago at=${leader.lockedUntil}></time-ago>` : '–',
  },
  {
    name: 'Open batch',
    minor: true,
    cell: ({ openBatch }) =>
      openBatch ? link({ view: 'batch', id: openBatch }, `#${openBatch.split('#').slice(-2).join('#')}`) : nothing,
  },
];

export const targetTable = (
  targets: readonly Target[] | undefined,
  now: number,
  empty: TemplateResult,
  expected = 8,
): TemplateResult => {
  // Failed tasks are counted only if the list is sorted by them.
  const isCounted = targets?.some(({ failed }) => failed !== undefined);
  const shown = columns(now).filter(({ name }) => name !== 'Failed' || isCounted);
  return table({ name: 'Targets', columns: shown, rows: targets, expected, empty });
};
