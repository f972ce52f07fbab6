/** What of a configuration is other than by default, in as few words as will do. */
import { printDuration } from '../../src/domain/config/duration.ts';
import type { Destination } from '../../src/domain/config/endpoints.ts';
import type { Config, Operation } from '../../src/domain/config/resolved.ts';
import { withoutSecrets } from '../terminal.ts';

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

const whereIs = (destination: Destination): string =>
  destination.kind === 'http' ? withoutSecrets(destination.url) : `${destination.kind} ${destination.name}`;

/** A line for each operation of which there is something to say, and for each destination. */
export const notesOf = ({ operations, destinations }: Config): string[] => [
  ...Object.values(operations).flatMap((operation) => {
    const said = [...batches(operation), ...calls(operation), ...callbacks(operation)].filter((each) => each !== false);
    return said.length > 0 ? [`${operation.operation}: ${said.join(', ')}`] : [];
  }),
  ...Object.entries(destinations).map(([name, destination]) => `destination ${name}: ${whereIs(destination)}`),
];
