/** `groupage batches`: lists batches, or shows one with its calls. */
import type { Command } from 'commander';
import type { Batch } from '../../../src/api/batches/responses.ts';
import { WrongUsage } from '../../failure.ts';
import { ago, fields, moment, printable, printJson, table } from '../../terminal.ts';
import { BATCH, BATCH_IN_FULL, type BatchShape } from '../shared/answers.ts';
import type { ApiClient } from '../shared/api-client.ts';
import { type CommonOptions, connect } from '../shared/connect.ts';
import { listed, listing, ofOperations, ofTargets, show } from '../shared/pages.ts';

interface BatchesOptions extends CommonOptions {
  readonly target?: string;
  readonly operation?: string;
  readonly underWay?: boolean;
  readonly limit: number;
}

export const batchesCommand = (): Command =>
  listing('batches', 'list batches, newest first, or show one batch with its calls')
    .argument('[id]', 'id of a batch to show, with its last 20 calls')
    .option('--target <target>', 'list only batches of this Target (default: of all Targets)')
    .option('--operation <name>', 'list only batches of this operation')
    .option(
      '--under-way',
      'list only batches under way (retried, held or with a job that reports later), the one with the oldest task first',
    )
    .action(async (id: string | undefined, options: BatchesOptions) => {
      const { target, operation, underWay } = options;
      if (id !== undefined && (target ?? operation ?? underWay) !== undefined)
        throw new WrongUsage('an id shows one batch: leave out --target, --operation and --under-way');
      if (target !== undefined && operation !== undefined) throw new WrongUsage('give --target or --operation');
      const api = await connect(options);
      if (id !== undefined) return showOne(api, id, options);
      const found = underWay ? await underWayBatches(api, options) : await newest(api, options);
      show(
        options,
        'batches',
        found,
        batchesTable,
        underWay ? 'no batch is under way; batches in their first attempt are not listed here' : 'no batches yet',
      );
    });

const newest = async (api: ApiClient, options: BatchesOptions): Promise<readonly BatchShape[]> => {
  const { operation, limit } = options;
  const batches =
    operation === undefined
      ? await ofTargets(api, options, 'batches', BATCH)
      : await listed(api, 'batches', BATCH, { operation }, limit + 1);
  return batches.toSorted((a, b) => b.createdAt.localeCompare(a.createdAt));
};

const underWayBatches = async (api: ApiClient, options: BatchesOptions): Promise<readonly BatchShape[]> => {
  const lists = options.target === undefined ? ofOperations : ofTargets;
  const found = await lists(api, options, 'batches', BATCH, { which: 'under-way' });
  return found.toSorted((a, b) => (a.oldestAt ?? '').localeCompare(b.oldestAt ?? ''));
};

const showOne = async (api: ApiClient, id: string, { json }: BatchesOptions): Promise<void> => {
  const { value, text } = await api.get(`/batches/${encodeURIComponent(id)}`, BATCH_IN_FULL);
  if (json) return console.log(printJson(text));
  const { calls = [], counts, lastAttempt, nextAttemptAfter, finishedAt } = value;
  console.log(
    fields([
      ['id', printable(value.id)],
      ['target', printable(value.target)],
      ['status', value.status],
      ['tasks', `${value.size} (see groupage tasks --batch ${printable(value.id)})`],
      ['outcomes', counts && `${counts.succeeded} succeeded, ${counts.failed} failed`],
      ['attempts', String(value.attempt)],
      ['created', moment(value.createdAt)],
      ['finished', finishedAt && moment(finishedAt)],
      ['next attempt', finishedAt ? undefined : nextAttemptAfter && moment(nextAttemptAfter)],
      ['last reason', lastAttempt && printable(lastAttempt.reason)],
    ]),
  );
  console.log(calls.length === 0 ? '\nno call is recorded yet' : `\n${callsTable(calls, value.size)}`);
};

const callsTable = (calls: NonNullable<Batch['calls']>, size: number): string =>
  table(
    ['ATTEMPT', 'STARTED', 'TASKS', 'TOOK', 'FAILED', 'ANSWER'],
    calls.map(({ attempt, startedAt, tasks, members, tookMs, isError, answer }) => [
      attempt,
      startedAt,
      members === undefined ? `all ${tasks}` : `${tasks} of ${size}: ${members}`,
      `${tookMs} ms`,
      isError ? 'yes' : '',
      answer,
    ]),
  );

const batchesTable = (batches: readonly BatchShape[]): string =>
  table(
    ['BATCH', 'STATUS', 'SEALED BY', 'TASKS', 'FILL', 'ATTEMPT', 'FAILED', 'AGE', 'LAST REASON'],
    batches.map(({ id, status, sealedBy, size, fill, attempt, counts, createdAt, lastAttempt, finishedAt }) => [
      id,
      status,
      sealedBy,
      size,
      fill === undefined ? '' : `${Math.round(fill * 100)}%`,
      attempt,
      counts?.failed ?? 0,
      ago(createdAt),
      finishedAt ? '' : (lastAttempt?.reason ?? '').slice(0, 60),
    ]),
  );
