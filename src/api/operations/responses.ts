/** Responses of `/operations`: their schemas, and their descriptions in the OpenAPI document. */
import * as z from 'zod/mini';
import type { Pause as StoredPause } from '../../domain/operations/slots.ts';
import {
  describeCalls,
  flag,
  list,
  moment,
  number,
  onlyTrue,
  type Said,
  text,
  whole,
  word,
} from '../shared/answer-schemas.ts';
import { OPERATION_CALLS } from './requests.ts';

/**
 * `closed`: calls are made. `open`: nothing is sealed or called about until its pause is over. `half-open`: that is over, and the
 * next call decides; if it fails the circuit opens again. Null where the operation has none.
 */
export type Circuit = 'closed' | 'open' | 'half-open' | null;

export const PAUSE = z
  .object({
    by: word<StoredPause['by']>('Whose it is', {
      person: 'until somebody resumes it',
      circuit: 'until then at the latest',
    }),
    since: moment('When it began.'),
    until: z.optional(moment('When it ends by itself.')),
    reason: z.optional(text('Why.')),
  })
  .check(z.meta({ id: 'Pause', description: 'Nothing is sealed, and nobody is called, until it is over.' }));

const state = {
  operation: text('Its name.'),
  paused: z.optional(PAUSE),
  circuit: z.nullable(
    word<NonNullable<Circuit>>('Null where it has none', {
      closed: 'calls are made',
      open: 'the downstream is down, or refuses whoever calls: nothing is called until its pause is over',
      'half-open': 'that is over, and the next batch tries',
    }),
  ),
  failures: whole('Attempts in a row that came to nothing.'),
  lateAfterSeconds: number('A task that has waited for longer is late.'),
  slots: z.optional(
    z
      .object({ taken: whole('Batches that hold one.'), total: whole('`concurrency.total`.') })
      .check(z.describe('Where `concurrency.total` is set.')),
  ),
  waitingTargets: whole('How many Targets wait for room, counted up to 100.', 0, 100),
  waitingTargetsIsAtLeast: z.optional(onlyTrue('There may be more.')),
};
export const OPERATION = z.object(state).check(z.meta({ id: 'Operation', description: 'The state of an operation.' }));
const OPERATION_DETAILS = z
  .object({
    ...state,
    groupedBy: list(z.string(), "The keys of a payload that a batch's tasks share."),
    batches: list(z.string(), 'Those that hold its slots.'),
    targets: list(
      z.object({ target: text('Which.'), since: moment('Since when its oldest task waits.') }),
      'Those that wait for a slot, the next one first.',
    ),
  })
  .check(z.meta({ id: 'OperationDetails', description: 'The state of an operation, in full.' }));

const OPERATIONS = z.object({ operations: list(OPERATION, 'As configured.') }).check(z.meta({ id: 'OperationList' }));

export type Pause = z.infer<typeof PAUSE>;
export type Operation = z.infer<typeof OPERATION>;
export type OperationDetails = z.infer<typeof OPERATION_DETAILS>;

const ofTarget = { operation: text('Its operation.'), target: text('The Target.') };
const alreadyPaused = flag('It was before: its `since` stays.');
const resuming = flag('A message ends the pause in a moment; false where nothing was paused.');

export const TARGET_PAUSED = z
  .object({ ...ofTarget, paused: PAUSE, alreadyPaused })
  .check(z.meta({ id: 'TargetPaused' }));
const PAUSED = z.union([z.object({ ...state, alreadyPaused }).check(z.meta({ id: 'OperationPaused' })), TARGET_PAUSED]);

const targetResumed = (name: string) =>
  z.object({ ...ofTarget, paused: z.optional(PAUSE), resuming }).check(z.meta({ id: `Target${name}` }));
export const TARGET_RESUMING = targetResumed('Resuming');
const resumedOf = (name: string) =>
  z.union([z.object({ ...state, resuming }).check(z.meta({ id: `Operation${name}` })), targetResumed(name)]);

const NO_OPERATION = 'No such operation is configured.';
const NOTHING_MEANT: Said['problems'] = { 404: `${NO_OPERATION} Or: No task of the Target was ever registered.` };

export const OPERATIONS_DESCRIBED = describeCalls(OPERATION_CALLS, {
  listOperations: {
    summary: 'The state of all operations',
    answers: { 200: { description: 'All that are configured.', schema: OPERATIONS } },
  },
  getOperation: {
    summary: 'The state of an operation, in full',
    answers: { 200: { description: 'Its state.', schema: OPERATION_DETAILS } },
    problems: { 404: NO_OPERATION },
  },
  pauseOperation: {
    summary: 'Nothing is sealed until it is resumed',
    description: 'Calls that are under way go on. Twice is harmless.',
    example: { reason: 'the depot moves' },
    answers: { 200: { description: 'Its state, or that of the Target.', schema: PAUSED } },
    problems: NOTHING_MEANT,
  },
  resumeOperation: {
    summary: 'Goes on, whoever paused it',
    answers: {
      200: { description: 'Nothing was paused.', schema: resumedOf('NotPaused') },
      202: { description: 'A message ends the pause in a moment.', schema: resumedOf('Resuming') },
    },
    problems: NOTHING_MEANT,
  },
});
