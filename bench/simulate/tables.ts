/** The table of docs/how-to/simulate.md. */
import { AWS, type Latency, LOCAL, type Platform } from '../../tools/simulate/platform.ts';

const spread = ({ p50, p99 }: Latency): string => `${p50} ms, 1 in 100 ${p99} ms or more`;

const ROWS: readonly (readonly [string, (of: Platform) => string])[] = [
  ['duration of a request to DynamoDB or SQS', ({ request }) => spread(request)],
  ['statements, rows or messages in requests at once', ({ atOnce }) => String(atOnce)],
  ['delivery of a message to a free function', ({ delivery }) => spread(delivery)],
  ['an invocation, without its requests', ({ overhead }) => `${overhead} ms`],
  ['memory of a function', ({ memory }) => `${memory} GB`],
  [
    'concurrent invocations of one queue',
    ({ pollers: { first, perMinute, most, countSleepers } }) =>
      `${first} at first, ${perMinute} more a minute, at most ${most}${countSleepers ? '' : ', not counting sleeping ones'}`,
  ],
];

/** Assumptions about the platform. */
export const assumed = (): string =>
  [
    '| | AWS | `--local` |',
    '|---|---|---|',
    ...ROWS.map(([name, of]) => `| ${name} | ${of(AWS)} | ${of(LOCAL)} |`),
  ].join('\n');
