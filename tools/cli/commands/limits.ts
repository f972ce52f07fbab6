/** `groupage limits`: lists the limits that operations share, or shows what is used of one and who waits. */
import type { Command } from 'commander';
import type { LimitBucket } from '../../../src/api/limits/responses.ts';
import { WrongUsage } from '../../failure.ts';
import { lowerBound } from '../../lower-bounds.ts';
import { ago, ahead, printable, table } from '../../terminal.ts';
import { BUCKET, type BucketShape, LIMITS, type LimitShape } from '../shared/answers.ts';
import { type CommonOptions, connect } from '../shared/connect.ts';
import { listed, listing, show } from '../shared/pages.ts';

interface LimitsOptions extends CommonOptions {
  readonly key?: string;
  readonly limit: number;
}

export const limitsCommand = (): Command =>
  listing('limits', 'list the limits that operations share; or show what is used of one, and who waits')
    .argument('[name]', 'show the buckets of this limit')
    .option('--key <text>', 'show only buckets whose key begins with this text, e.g. account=17 (case-sensitive)')
    .action(async (name: string | undefined, options: LimitsOptions) => {
      if (name === undefined && options.key !== undefined)
        throw new WrongUsage('--key is about one limit: groupage limits NAME --key TEXT');
      const api = await connect(options);
      if (name === undefined) {
        const { value } = await api.get('/limits', LIMITS);
        return show(options, 'limits', value.limits, limitsTable, 'no limits are configured');
      }
      const query = options.key === undefined ? {} : { key: options.key };
      const buckets = await listed(
        api,
        'buckets',
        BUCKET,
        query,
        options.limit + 1,
        `limits/${encodeURIComponent(name)}`,
      );
      const none = `no call has counted under the limit ${name}${options.key === undefined ? '' : ` with a key that begins with ${options.key}`} for 7 days`;
      show(options, 'buckets', buckets, bucketsTable, printable(none));
    });

const number = (value: number): string => value.toLocaleString('en');

const limitsTable = (limits: readonly LimitShape[]): string =>
  table(
    ['LIMIT', 'STARTS', 'IN PROGRESS', 'FOR EACH', 'OPERATIONS'],
    limits.map(({ limit, calls, weight, perSeconds, concurrency, key, operations }) => {
      const span = perSeconds === 1 ? 'second' : `${number(perSeconds)} s`;
      const starts = amounts(calls, weight);
      return [
        limit,
        starts && `${starts} a ${span}`.replace(/ a (\d)/, ' in $1'),
        amounts(concurrency?.calls, concurrency?.weight),
        key === undefined ? '' : key === 'target' ? 'Target' : key.join(', '),
        operations.join(', '),
      ];
    }),
  );

const amounts = (calls: number | undefined, weight: number | undefined): string =>
  [
    ...(calls === undefined ? [] : [`${number(calls)} ${calls === 1 ? 'call' : 'calls'}`]),
    ...(weight === undefined ? [] : [`weight ${number(weight)}`]),
  ].join(', ');

const bucketsTable = (buckets: readonly BucketShape[]): string =>
  table(
    ['BUCKET', 'CALLS', 'WEIGHT', 'IN PROGRESS', 'WEIGHT IN PROGRESS', 'NEXT CALL', 'WAITING', 'OLDEST', 'NEXT'],
    buckets.map(({ calls, weight, inProgress, weightInProgress, waiting, waitingIsAtLeast, next, ...bucket }) => [
      bucketName(bucket),
      used(calls),
      used(weight),
      used(inProgress),
      used(weightInProgress),
      nextCall(bucket.nextAt),
      lowerBound(waiting, waitingIsAtLeast),
      ago(next.map(({ since }) => since).sort()[0]),
      next[0]?.batchId ?? next[0]?.target ?? '',
    ]),
  );

const bucketName = ({ key, part }: Pick<BucketShape, 'key' | 'part'>): string =>
  [key, part === undefined ? undefined : `part ${part}`].filter(Boolean).join(', ') || 'all calls';

const used = (of: LimitBucket['calls']): string => (of ? `${number(of.used)} of ${number(of.allowed)}` : '');

const nextCall = (at: string | undefined): string => {
  if (at === undefined) return 'after a call ends';
  const left = ahead(at);
  return left === undefined ? 'now' : `in ${left}`;
};
