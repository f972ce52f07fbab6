/** `groupage check`: validates the configuration, and prints a summary of it. */
import { existsSync } from 'node:fs';
import { Command } from 'commander';
import { CONFIG_FILES, EXAMPLE_CONFIG, findConfig, loadConfig } from '../../../src/config/load.ts';
import { printDuration } from '../../../src/domain/config/duration.ts';
import type { Destination } from '../../../src/domain/config/endpoints.ts';
import type { Limit } from '../../../src/domain/config/limits.ts';
import { type Config, handlerTimeout, type Operation } from '../../../src/domain/config/resolved.ts';
import { ANSWER_MAX_BYTES } from '../../../src/domain/downstream/http-answer.ts';
import { POWERS } from '../../../src/domain/producers/rules.ts';
import { CommandFailure } from '../../failure.ts';
import { plural, printable, printJson, table, whereIs, withoutSecrets } from '../../terminal.ts';

export const checkCommand = (): Command =>
  new Command('check')
    .description('validate the configuration, and print a summary of it')
    .argument(
      '[file]',
      `configuration file (default: $GROUPAGE_CONFIG, ${CONFIG_FILES.join(' or ')} in this folder, or else the example)`,
    )
    .action(async (file: string | undefined, { json }: { readonly json?: boolean }) => {
      const own = findConfig(process.cwd(), file);
      if (own === undefined && !existsSync(EXAMPLE_CONFIG))
        throw new CommandFailure(
          `there is no ${CONFIG_FILES.join(' or ')} in this folder. Create this file, or name a configuration file in the command`,
        );
      if (own === undefined)
        console.error(
          `There is no ${CONFIG_FILES.join(' or ')} in this folder. The following describes the example, examples/flights:\n`,
        );
      const config = await loadConfig(own ?? EXAMPLE_CONFIG);
      console.log(json ? printJson(JSON.stringify(config, withoutSecretUrls)) : describe(config));
    });

/** A URL may contain a key in its query, and printed text may end in logs. */
const withoutSecretUrls = (name: string, value: unknown): unknown =>
  name === 'url' && typeof value === 'string' ? withoutSecrets(value) : value;

const describe = (config: Config): string => {
  const rows = Object.values(config.operations).map(
    ({ operation, keys, shards, batch, downstream, retry, keepTasks }) => [
      operation,
      keys.length > 0 ? keys.join(', ') + (shards > 1 ? ` (${shards} shards)` : '') : 'one Target',
      `${plural(batch.maxSize, 'task')}, ${batch.maxBytes.toLocaleString('en')} bytes, ${printDuration(batch.maxWait)}`,
      `${whereIs(downstream)} (${printDuration(downstream.timeout)})`,
      `${retry.maxAttempts} × ${retry.immediate + 1} calls`,
      printDuration(keepTasks),
    ],
  );
  const seconds = printDuration(handlerTimeout(config));
  const notes = notesOf(config).map((note) => `${printable(note)}\n`);
  const hints = hintsOf(config).map((hint) => `Hint: ${printable(hint)}\n`);
  return `${table(['OPERATION', 'GROUPED BY', 'BATCH AT MOST', 'DOWNSTREAM', 'ATTEMPTS', 'TASKS KEPT'], rows)}\n\n${notes.length > 0 ? `${notes.join('')}\n` : ''}${hints.length > 0 ? `${hints.join('')}\n` : ''}The configuration is valid. An attempt of a batch may take up to ${seconds} in the batch handler.`;
};

const batches = ({ batch, merge }: Operation): (string | false)[] => [
  batch.window !== null && `batch windows of ${printDuration(batch.window)}`,
  batch.bypass !== null && `a task of ${batch.bypass.toLocaleString('en')} bytes or more gets a batch of its own`,
  batch.quietPeriod > 0 &&
    `a batch is sealed when ${batch.minSize > 1 ? `at least ${batch.minSize} tasks wait and ` : ''}no task arrives for ${printDuration(batch.quietPeriod)}`,
  batch.maxWeight > 0 && `weight of a batch at most ${batch.maxWeight.toLocaleString('en')}`,
  merge !== null && `merges requests by ${merge.keys}`,
];

const calls = ({
  concurrency,
  merge,
  rateLimit,
  limits,
  circuit,
  retry,
  downstream,
}: Operation): (string | false)[] => [
  concurrency.perTarget !== null && merge === null && `concurrent batches per Target: at most ${concurrency.perTarget}`,
  concurrency.total !== null && `concurrent batches in total: at most ${concurrency.total}`,
  rateLimit !== null && `at most ${rateLimit} calls per second`,
  limits.length > 0 && `limited by ${limits.join(' and ')}`,
  circuit === null
    ? 'no circuit'
    : (circuit.failures !== 5 || circuit.coolDown !== 30_000) &&
      `the circuit opens after ${circuit.failures} failures in a row, for ${printDuration(circuit.coolDown)}`,
  !retry.bisect && 'a failing batch is not halved',
  downstream.kind === 'http' && downstream.request !== null && `calls are sent as ${downstream.request.as}`,
  downstream.kind === 'http' && downstream.response !== null && 'answers are read in the format of the API',
  downstream.kind === 'http' && downstream.auth !== null && `calls are authorized (${downstream.auth.kind})`,
  'secret' in downstream && downstream.secret !== null && 'calls are signed',
  'usageHeader' in downstream &&
    downstream.usageHeader !== null &&
    `the header ${downstream.usageHeader} reports the weight that a call used`,
];

const callbacks = ({ callbacks: { failed, succeeded } }: Operation): (string | false)[] => [
  failed !== null && `events about failed tasks → ${failed}`,
  succeeded !== null && `events about succeeded tasks → ${succeeded}`,
];

const placeOf = (destination: Destination): string =>
  destination.kind === 'http' ? withoutSecrets(destination.url) : `${destination.kind} ${destination.name}`;

const amount = (calls: number | null, weight: number | null): string =>
  [calls !== null && plural(calls, 'call'), weight !== null && `weight ${weight.toLocaleString('en')}`]
    .filter((each) => each !== false)
    .join(' and ');

const bucketsOf = (key: Limit['key']): string | false => {
  if (key === null) return false;
  return key === 'target' ? 'for each Target' : `for each ${key.join(', ')}`;
};

const limitOf = ({ calls, weight, per, burst, key, concurrency }: Limit): string => {
  const rate = amount(calls, weight);
  const inProgress = amount(concurrency.calls, concurrency.weight);
  return [
    rate !== '' && `at most ${rate} in ${printDuration(per)}`,
    burst > 1 && `${burst.toLocaleString('en')} may start at once`,
    inProgress !== '' && `at most ${inProgress} in progress`,
    bucketsOf(key),
  ]
    .filter((each) => each !== false)
    .join(', ');
};

/** A line for each limit, with the operations that share it. */
const limitNotes = ({ operations, limits }: Config): string[] =>
  Object.entries(limits).map(([name, limit]) => {
    const users = Object.values(operations).filter(({ limits: named }) => named.some((each) => each === name));
    const by = users.map(({ operation }) => operation).join(', ') || 'no operation';
    return `limit ${name}: ${limitOf(limit)} (named by ${by})`;
  });

/** A line for each producer without an id that rules name. */
const emptyProducers = ({ operations, producers = {} }: Config): string[] =>
  Object.keys(producers).flatMap((name) => {
    const rules = Object.values(operations).flatMap(({ operation, producers: of }) =>
      POWERS.filter((power) => {
        const rule = of?.[power] ?? [];
        return typeof rule !== 'string' && rule.includes(name);
      }).map((power) => `${power} of ${operation}`),
    );
    return rules.length > 0 && producers[name]?.length === 0
      ? [
          `producer ${name}: has no ids. Rules that name it (${rules.join(', ')}) need grantRegister(role, { as: '${name}' })`,
        ]
      : [];
  });

/**
 * The settings that differ from their defaults: a line for each operation that has any, for each limit, and for each
 * destination. Then the producers without ids that rules name.
 */
export const notesOf = (config: Config): string[] => [
  ...Object.values(config.operations).flatMap((operation) => {
    const said = [...batches(operation), ...calls(operation), ...callbacks(operation)].filter((each) => each !== false);
    return said.length > 0 ? [`${operation.operation}: ${said.join(', ')}`] : [];
  }),
  ...limitNotes(config),
  ...Object.entries(config.destinations).map(([name, destination]) => `destination ${name}: ${placeOf(destination)}`),
  ...emptyProducers(config),
];

/** Results up to this size are common: URLs, labels, a small document. A batch with space for them needs no hint. */
const USUAL_RESULT_BYTES = 10_000;

/**
 * Hints about valid settings whose consequences users may not expect, with a remedy. There is a hint for each operation
 * whose full batches have too many tasks for their results to fit into one response.
 */
export const hintsOf = ({ operations }: Config): string[] => Object.values(operations).flatMap(spaceForResults);

const spaceForResults = ({ operation, batch: { maxSize }, downstream: { kind } }: Operation): string[] => {
  const each = Math.floor(ANSWER_MAX_BYTES / maxSize);
  // Downstreams of the other kinds report results by messages, or not at all.
  if (each >= USUAL_RESULT_BYTES || (kind !== 'http' && kind !== 'lambda')) return [];
  return [
    `${operation}: a response may have 6 MB, so each of the ${maxSize.toLocaleString('en')} results of a full batch may have about ${each.toLocaleString('en')} bytes. If a response is larger, the batch handler does not read it and sends the tasks again in two halves, so the downstream repeats the work. If results can be larger, lower batch.maxSize, or store the results and respond with their locations.`,
  ];
};
