/** `groupage operations`: what is paused, broken or full. */
import { Command } from 'commander';
import type { Pause } from '../../../src/api/operations/responses.ts';
import { ago, ahead, printJson, table } from '../../terminal.ts';
import { OPERATIONS, type OperationShape } from '../shared/answers.ts';
import type { ApiClient } from '../shared/api-client.ts';
import { type CommonOptions, connect } from '../shared/connect.ts';

export const operationsCommand = (): Command =>
  new Command('operations')
    .description('list operations: what is paused, whose downstream is down, who waits for room')
    .action(async (options: CommonOptions) => {
      const { text, value } = await operationsOf(await connect(options));
      console.log(options.json ? printJson(text) : operationsTable(value.operations));
    });

export const operationsOf = (api: ApiClient) => api.get('/operations', OPERATIONS);

const operationsTable = (operations: readonly OperationShape[]): string =>
  table(
    ['OPERATION', 'CIRCUIT', 'FAILURES', 'SLOTS', 'TARGETS THAT WAIT', 'STATE'],
    operations.map(({ operation, circuit, failures, slots, waitingTargets, waitingTargetsIsAtLeast, paused }) => [
      operation,
      circuit ?? 'none',
      failures,
      slots ? `${slots.taken} of ${slots.total}` : 'any',
      `${waitingTargets}${waitingTargetsIsAtLeast ? '+' : ''}`,
      paused ? pauseText(paused) : '',
    ]),
  );

/** A pause in words. Its reason is somebody else's text. */
export const pauseText = ({ by, since, until, reason }: Pause, now = Date.now()): string => {
  const left = until === undefined ? undefined : ahead(until, now);
  const who = by === 'circuit' ? 'circuit open' : 'paused';
  const next = until === undefined ? '' : left === undefined ? ', to be tried now' : `, to be tried in ${left}`;
  return `${who} for ${ago(since, now)}${next}${reason === undefined ? '' : `: ${reason}`}`;
};

/** What an on-call person should know of an operation, if there is anything. */
export const troubleOf = (
  { operation, paused, circuit, failures, slots, waitingTargets }: OperationShape,
  now = Date.now(),
): string | undefined => {
  if (paused) return `${operation}: ${pauseText(paused, now)}`;
  if (circuit === 'half-open')
    return `${operation}: circuit half-open after ${failures} failures, the next call decides`;
  if (slots && slots.taken >= slots.total && waitingTargets > 0)
    return `${operation}: full, ${slots.taken} of ${slots.total} batches are under way`;
  return undefined;
};
