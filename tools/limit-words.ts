/** How the command line and the console print limits of calls. Pure. */
import type { Limit, LimitBucket } from '../src/api/limits/responses.ts';

const number = (value: number): string => value.toLocaleString('en');

const amounts = (calls: number | undefined, weight: number | undefined): string =>
  [
    ...(calls === undefined ? [] : [`${number(calls)} ${calls === 1 ? 'call' : 'calls'}`]),
    ...(weight === undefined ? [] : [`weight ${number(weight)}`]),
  ].join(', ');

const UNITS: readonly (readonly [seconds: number, one: string, short: string])[] = [
  [86_400, 'a day', 'd'],
  [3_600, 'an hour', 'h'],
  [60, 'a minute', 'min'],
  [1, 'a second', 's'],
];

const span = (seconds: number): string => {
  const [unit, one, short] = UNITS.find(([each]) => seconds % each === 0) ?? [1, '', 's'];
  return seconds === unit ? one : `in ${number(seconds / unit)} ${short}`;
};

/** `10 calls, weight 90,000 a minute`, or an empty text if the limit does not count starts. */
export const startsOf = ({ calls, weight, perSeconds }: Pick<Limit, 'calls' | 'weight' | 'perSeconds'>): string => {
  const starts = amounts(calls, weight);
  return starts && `${starts} ${span(perSeconds)}`;
};

/** `4 calls`, or an empty text if the limit does not count calls in progress. */
export const inProgressOf = ({ concurrency }: Pick<Limit, 'concurrency'>): string =>
  amounts(concurrency?.calls, concurrency?.weight);

/** What has a bucket of its own: `account, region`, `Target`, or an empty text. */
export const forEachOf = ({ key }: Pick<Limit, 'key'>): string =>
  key === undefined ? '' : key === 'target' ? 'Target' : key.join(', ');

/** `account=17, part 2`, or `all calls` if the limit has one bucket. */
export const bucketName = ({ key, part }: Pick<LimitBucket, 'key' | 'part'>): string =>
  [key, part === undefined ? undefined : `part ${part}`].filter(Boolean).join(', ') || 'all calls';

/** `3 of 10`, or an empty text if the limit does not count it. */
export const usedOf = (of: LimitBucket['calls']): string => (of ? `${number(of.used)} of ${number(of.allowed)}` : '');

/** The registration of the oldest task among the waiting calls that are listed. */
export const oldestOf = ({ next }: Pick<LimitBucket, 'next'>): string | undefined =>
  next.map(({ since }) => since).sort()[0];
