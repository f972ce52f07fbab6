/** The sweep, each minute: sends dead letters again, frees slots, and patrols fan-outs and lock rows. */
import type { Context, ScheduledEvent } from 'aws-lambda';
import type { Environment } from '../src/domain/deployed/environment.ts';
import { sweep } from '../src/steps/repair/sweep.ts';
import { atFirstInvocation, partsOf } from './compose.ts';
import { type Host, invocationOf } from './host.ts';
import { listsOf } from './stores.ts';

export const compose = (environment: Environment, host: Host) => {
  const parts = partsOf(environment, host);
  const { deadLetters, waiting, locks, batches, operations, buckets, fanOuts, queues, patrolMarks } = parts;
  const deps = {
    ...parts.base,
    deadLetters: deadLetters(),
    waiting: waiting(),
    locks: locks(),
    batches: batches(),
    operations: operations(),
    buckets: buckets(),
    fanOuts: fanOuts(),
    lists: listsOf(environment, host),
    queues: queues(),
    patrolMarks: patrolMarks(),
  };
  return (_: ScheduledEvent, context: Context): Promise<void> => sweep(deps, invocationOf(context));
};

export const handler = atFirstInvocation(compose);
