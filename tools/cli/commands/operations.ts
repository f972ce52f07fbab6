/** `groupage operations`: lists operations, with pauses, circuits and slots, or shows the configuration of one. */
import { Command } from 'commander';
import type { Pause } from '../../../src/api/operations/responses.ts';
import { WrongUsage } from '../../failure.ts';
import { lowerBound } from '../../lower-bounds.ts';
import { ago, ahead, printJson, table } from '../../terminal.ts';
import type { OperationShape } from '../shared/answers.ts';
import { showOperation } from '../shared/configuration.ts';
import { type CommonOptions, connect } from '../shared/connect.ts';
import { operationsOf } from '../shared/pages.ts';
import { inBatches, underWayTexts } from '../shared/under-way.ts';

interface OperationsOptions extends CommonOptions {
  readonly advice?: boolean;
}

export const operationsCommand = (): Command =>
  new Command('operations')
    .description(
      'list operations: pauses, circuits, used slots, and Targets that wait for a free slot; or show the configuration of one',
    )
    .argument('[operation]', 'show the configuration of this operation, and where each value comes from')
    .option('--advice', 'also say what a longer wait would bring, from its figures and simulations')
    .action(async (name: string | undefined, options: OperationsOptions) => {
      if (name === undefined && options.advice)
        throw new WrongUsage('--advice is about one operation: groupage operations NAME --advice');
      if (name !== undefined) return showOperation(name, options);
      const { text, value } = await operationsOf(await connect(options));
      console.log(options.json ? printJson(text) : operationsTable(value.operations));
    });

const operationsTable = (operations: readonly OperationShape[]): string =>
  table(
    ['OPERATION', 'CIRCUIT', 'FAILED IN A ROW', 'SLOTS', 'WAITING TARGETS', 'IN BATCHES', 'STATE'],
    operations.map(
      ({ operation, circuit, failures, slots, waitingTargets, waitingTargetsIsAtLeast, paused, ...more }) => [
        operation,
        circuit ?? 'none',
        failures,
        slots ? `${slots.taken} of ${slots.total}` : 'no limit',
        lowerBound(waitingTargets, waitingTargetsIsAtLeast),
        inBatches(more.underWay),
        [
          ...(paused ? [pauseText(paused)] : []),
          ...lastFailureOf({ ...more, paused }),
          ...underWayTexts(more.underWay),
        ].join('; '),
      ],
    ),
  );

/** The cause of the last failed attempt, unless the pause of the circuit already states it. */
const lastFailureOf = ({ paused, lastFailure }: Pick<OperationShape, 'paused' | 'lastFailure'>): readonly string[] =>
  lastFailure === undefined || paused?.by === 'circuit' ? [] : [`last failure: ${lastFailure}`];

/** Describes a pause. Its reason is text from a user, so the caller must make it printable. */
export const pauseText = ({ by, since, until, reason }: Pause, now = Date.now()): string => {
  const left = until === undefined ? undefined : ahead(until, now);
  const who = by === 'circuit' ? 'circuit open' : 'paused';
  const next =
    until === undefined ? '' : left === undefined ? ', next trial call due now' : `, next trial call in ${left}`;
  return `${who} for ${ago(since, now)}${next}${reason === undefined ? '' : `: ${reason}`}`;
};

/** The problem of an operation that an on-call engineer must see, or undefined. */
export const troubleOf = (
  { operation, paused, circuit, failures, lastFailure, slots, waitingTargets }: OperationShape,
  now = Date.now(),
): string | undefined => {
  if (paused) return `${operation}: ${pauseText(paused, now)}`;
  if (circuit === 'half-open')
    return `${operation}: the circuit is half-open after ${failures} failures; it closes if the next batch succeeds, and opens again if that batch fails${lastFailure === undefined ? '' : `. The last failure: ${lastFailure}`}`;
  if (slots && slots.taken >= slots.total && waitingTargets > 0)
    return `${operation}: Targets wait because there is no free slot (${slots.taken} of ${slots.total} are taken)`;
  return undefined;
};
