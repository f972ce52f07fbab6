/** `groupage batches`: lists batches, newest first. */
import type { Command } from 'commander';
import { ago, table } from '../../terminal.ts';
import { BATCH, type BatchShape } from '../shared/answers.ts';
import { type CommonOptions, connect } from '../shared/connect.ts';
import { listing, ofTargets, show } from '../shared/pages.ts';

interface BatchesOptions extends CommonOptions {
  readonly target?: string;
  readonly limit: number;
}

export const batchesCommand = (): Command =>
  listing('batches', 'list batches, newest first')
    .option('--target <target>', 'list only batches of this Target (default: of all Targets)')
    .action(async (options: BatchesOptions) => {
      const batches = await ofTargets(await connect(options), options, 'batches', BATCH);
      const newest = batches.toSorted((a, b) => b.createdAt.localeCompare(a.createdAt));
      show(options, 'batches', newest, batchesTable, 'no batches yet');
    });

const batchesTable = (batches: readonly BatchShape[]): string =>
  table(
    ['BATCH', 'STATUS', 'SEALED BY', 'TASKS', 'FILL', 'ATTEMPT', 'FAILED', 'AGE'],
    batches.map(({ id, status, sealedBy, size, fill, attempt, counts, createdAt }) => [
      id,
      status,
      sealedBy,
      size,
      fill === undefined ? '' : `${Math.round(fill * 100)}%`,
      attempt,
      counts?.failed ?? 0,
      ago(createdAt),
    ]),
  );
