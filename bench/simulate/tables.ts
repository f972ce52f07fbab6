/** The table of docs/how-to/simulate.md. */
import { AWS, type Latency, LOCAL, type Platform } from '../../tools/simulate/platform.ts';

const spread = ({ p50, p99 }: Latency): string => `${p50} ms; one in a hundred ${p99} ms or more`;

const ROWS: readonly (readonly [string, (of: Platform) => string])[] = [
  ['a request to DynamoDB or SQS', ({ request }) => spread(request)],
  ['statements, rows or messages that requests at once carry', ({ atOnce }) => String(atOnce)],
  ['from when a message can be had until a free function has it', ({ delivery }) => spread(delivery)],
  ['an invocation, beside its requests', ({ overhead }) => `${overhead} ms`],
  ['memory of a function', ({ memory }) => `${memory} GB`],
  [
    'invocations at once of one queue',
    ({ pollers: { first, perMinute, most, countSleepers } }) =>
      `${first} at first, ${perMinute} more a minute, at most ${most}${countSleepers ? '' : ' beside those that sleep'}`,
  ],
];

/** What is assumed of the platform. */
export const assumed = (): string =>
  [
    '| | AWS | `--local` |',
    '|---|---|---|',
    ...ROWS.map(([name, of]) => `| ${name} | ${of(AWS)} | ${of(LOCAL)} |`),
  ].join('\n');
