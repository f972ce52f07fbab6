/** `groupage check`: is the configuration right, and what does it come to? */
import { existsSync } from 'node:fs';
import { Command } from 'commander';
import { CONFIG_FILES, EXAMPLE_CONFIG, findConfig, loadConfig } from '../../../src/config/load.ts';
import { printDuration } from '../../../src/domain/config/duration.ts';
import type { Destination } from '../../../src/domain/config/endpoints.ts';
import { type Config, handlerTimeout, type Operation } from '../../../src/domain/config/resolved.ts';
import { ANSWER_MAX_BYTES } from '../../../src/domain/downstream/http-answer.ts';
import { CommandFailure } from '../../failure.ts';
import { plural, printable, printJson, table, whereIs, withoutSecrets } from '../../terminal.ts';

export const checkCommand = (): Command =>
  new Command('check')
    .description('check the configuration')
    .argument(
      '[file]',
      `the file (default: GROUPAGE_CONFIG, ${CONFIG_FILES.join(' or ')} in this folder, otherwise the example)`,
    )
    .action(async (file: string | undefined, { json }: { readonly json?: boolean }) => {
      const own = findConfig(process.cwd(), file);
      if (own === undefined && !existsSync(EXAMPLE_CONFIG))
        throw new CommandFailure(`there is no ${CONFIG_FILES.join(' or ')} in this folder: write one, or name a file`);
      if (own === undefined)
        console.error(`There is no ${CONFIG_FILES.join(' or ')} in this folder; this is examples/flights:\n`);
      const config = await loadConfig(own ?? EXAMPLE_CONFIG);
      console.log(json ? printJson(JSON.stringify(config, withoutSecretUrls)) : describe(config));
    });

/** A URL may hold a key in its query, and what is printed ends in logs. */
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
  return `${table(['OPERATION', 'GROUPED BY', 'BATCH AT MOST', 'DOWNSTREAM', 'ATTEMPTS', 'KEPT'], rows)}\n\n${notes.length > 0 ? `${notes.join('')}\n` : ''}${hints.length > 0 ? `${hints.join('')}\n` : ''}The configuration is right. The batch handler gets ${seconds} for an attempt.`;
};

const batches = ({ batch, merge }: Operation): (string | false)[] => [
  batch.window !== null && `windows of ${printDuration(batch.window)}`,
  batch.bypass !== null && `skipped from ${batch.bypass.toLocaleString('en')} bytes`,
  batch.quietPeriod > 0 &&
    `sealed when quiet for ${printDuration(batch.quietPeriod)}${batch.minSize > 1 ? ` and ${batch.minSize} tasks` : ''}`,
  batch.maxWeight > 0 && `weight ${batch.maxWeight.toLocaleString('en')}`,
  merge !== null && `merges ${merge.keys}`,
];

const calls = ({ concurrency, merge, rateLimit, circuit, retry, downstream }: Operation): (string | false)[] => [
  concurrency.perTarget !== null && merge === null && `${concurrency.perTarget} at once of a Target`,
  concurrency.total !== null && `${concurrency.total} at once in all`,
  rateLimit !== null && `${rateLimit} calls a second`,
  circuit === null
    ? 'no circuit'
    : (circuit.failures !== 5 || circuit.coolDown !== 30_000) &&
      `circuit opens after ${circuit.failures} for ${printDuration(circuit.coolDown)}`,
  !retry.bisect && 'not bisected',
  'secret' in downstream && downstream.secret !== null && 'signed',
];

const callbacks = ({ callbacks: { failed, succeeded } }: Operation): (string | false)[] => [
  failed !== null && `failed → ${failed}`,
  succeeded !== null && `succeeded → ${succeeded}`,
];

const placeOf = (destination: Destination): string =>
  destination.kind === 'http' ? withoutSecrets(destination.url) : `${destination.kind} ${destination.name}`;

/**
 * What of a configuration is other than by default, in as few words as will do: a line for each operation of which there
 * is something to say, and for each destination.
 */
export const notesOf = ({ operations, destinations }: Config): string[] => [
  ...Object.values(operations).flatMap((operation) => {
    const said = [...batches(operation), ...calls(operation), ...callbacks(operation)].filter((each) => each !== false);
    return said.length > 0 ? [`${operation.operation}: ${said.join(', ')}`] : [];
  }),
  ...Object.entries(destinations).map(([name, destination]) => `destination ${name}: ${placeOf(destination)}`),
];

/** Results of this size are common: URLs, labels, a small document. A batch with room for them needs no hint. */
const USUAL_RESULT_BYTES = 10_000;

/**
 * What is right in a configuration and may still be a surprise, with what to do about it: a line for each operation whose
 * full batches have so many tasks that their results may not fit into one answer.
 */
export const hintsOf = ({ operations }: Config): string[] => Object.values(operations).flatMap(spaceForResults);

const spaceForResults = ({ operation, batch: { maxSize }, downstream: { kind } }: Operation): string[] => {
  const room = Math.floor(ANSWER_MAX_BYTES / maxSize);
  // The other kinds report by messages, or not at all.
  if (room >= USUAL_RESULT_BYTES || (kind !== 'http' && kind !== 'lambda')) return [];
  return [
    `${operation}: an answer may have 6 MB, so the results of ${maxSize.toLocaleString('en')} tasks may have about ${room.toLocaleString('en')} bytes each. A larger answer is not read: the call is repeated in halves, and so are its effects. If results can be larger, lower batch.maxSize, or store them and answer with where they are.`,
  ];
};
