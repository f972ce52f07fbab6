/** The table of docs/simulating.md. */
import { AWS, LOCAL, type Surroundings } from '../../src/simulate/surroundings.ts';

const ROWS: readonly (readonly [string, (of: Surroundings) => string])[] = [
  ['a request to DynamoDB or SQS', ({ request }) => `${request} ms`],
  ['statements, rows or messages that requests at once carry', ({ atOnce }) => String(atOnce)],
  ['from when a message can be had until a free function has it', ({ delivery }) => `${delivery} ms`],
  ['an invocation, beside its requests', ({ overhead }) => `${overhead} ms`],
  ['memory of a function', ({ memory }) => `${memory} GB`],
  [
    'invocations at once of one queue',
    ({ pollers: { first, perMinute, most } }) =>
      perMinute === 0
        ? String(most)
        : `${first} at first, ${perMinute} more a minute, at most ${most.toLocaleString('en')}`,
  ],
];

/** What is assumed of the platform. */
export const assumed = (): string =>
  [
    '| | AWS | `--local` |',
    '|---|---|---|',
    ...ROWS.map(([name, of]) => `| ${name} | ${of(AWS)} | ${of(LOCAL)} |`),
  ].join('\n');
