/** `groupage limits`: lists the limits, or shows what is used of one and which Targets wait. */
import type { Command } from 'commander';
import { WrongUsage } from '../../failure.ts';
import { bucketName, forEachOf, inProgressOf, oldestOf, startsOf, usedOf } from '../../limit-words.ts';
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
  listing('limits', 'list the limits; or show what is used of one, and which Targets wait')
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

const limitsTable = (limits: readonly LimitShape[]): string =>
  table(
    ['LIMIT', 'STARTS', 'IN PROGRESS', 'FOR EACH', 'OPERATIONS'],
    limits.map((each) => [each.limit, startsOf(each), inProgressOf(each), forEachOf(each), each.operations.join(', ')]),
  );

const bucketsTable = (buckets: readonly BucketShape[]): string =>
  table(
    [
      'BUCKET',
      'CALLS',
      'WEIGHT',
      'IN PROGRESS',
      'WEIGHT IN PROGRESS',
      'NEXT CALL',
      'PLANNED',
      'WAITING',
      'OLDEST',
      'NEXT',
    ],
    buckets.map((bucket) => [
      bucketName(bucket),
      usedOf(bucket.calls),
      usedOf(bucket.weight),
      usedOf(bucket.inProgress),
      usedOf(bucket.weightInProgress),
      nextCall(bucket.nextAt),
      bucket.planned ?? '',
      lowerBound(bucket.waiting, bucket.waitingIsAtLeast),
      ago(oldestOf(bucket)),
      bucket.next[0]?.batchId ?? bucket.next[0]?.target ?? '',
    ]),
  );

const nextCall = (at: string | undefined): string => {
  if (at === undefined) return 'after a call ends';
  const left = ahead(at);
  return left === undefined ? 'now' : `in ${left}`;
};
