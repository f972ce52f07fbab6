/** Responses of `/operations`: their schemas, and their descriptions in the OpenAPI document. */
import * as z from 'zod/mini';
import type { SettingSource } from '../../domain/config/settings.ts';
import type { Pause as StoredPause } from '../../domain/operations/slots.ts';
import {
  anything,
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
import { BATCHES_READ, REASONS } from './under-way.ts';

/**
 * `closed`: the downstream is called. `open`: no batch is sealed and the downstream is not called until the pause ends.
 * `half-open`: the pause has ended, and the next attempt decides whether the circuit closes or opens again. Null: the
 * operation has no circuit.
 */
export type Circuit = 'closed' | 'open' | 'half-open' | null;

export const PAUSE = z
  .object({
    by: word<StoredPause['by']>('Who or what paused it', {
      person: 'a user; it lasts until a user resumes',
      circuit: 'the circuit; it ends at `until` at the latest',
    }),
    since: moment('When it began.'),
    until: z.optional(moment('When it ends by itself.')),
    reason: z.optional(text('The reason.')),
  })
  .check(
    z.meta({
      id: 'Pause',
      description: 'A pause. Until it ends, no batch is sealed and the downstream is not called.',
    }),
  );

export const UNDER_WAY = z
  .object({
    batches: whole('Number of batches.'),
    tasks: whole('Number of their tasks without a result.'),
    isAtLeast: z.optional(onlyTrue(`There may be more: at most ${BATCHES_READ} batches of an operation are read.`)),
    oldestAt: moment('When the oldest of these tasks was registered.'),
    retried: whole('Tasks whose last attempt failed and that are called again.'),
    pending: whole('Tasks whose job reports later.'),
    attempt: z.optional(whole('The largest number of attempts that one of the batches has had so far.')),
    reasons: list(
      z.object({ reason: text('The reason.'), tasks: whole('Number of tasks.') }),
      `Why the last attempts left tasks without a result; at most ${REASONS} reasons, the one with the most tasks first.`,
    ),
  })
  .check(
    z.meta({
      id: 'UnderWay',
      description:
        'Unfinished batches that have had an attempt, or have been held for over 15 minutes. Batches in their first attempt are not included.',
    }),
  );
export type UnderWaySummary = z.infer<typeof UNDER_WAY>;

const state = {
  operation: text('The name of the operation.'),
  paused: z.optional(PAUSE),
  circuit: z.nullable(
    word<NonNullable<Circuit>>('The state of its circuit; null if it has none', {
      closed: 'calls are made',
      open: 'the downstream fails or its configuration is wrong: no calls are made until the pause ends',
      'half-open': 'the pause has ended, and the next attempt decides',
    }),
  ),
  failures: whole('Number of failed attempts in a row.'),
  lastFailure: z.optional(
    text(
      'Why the last of them failed; at most 200 bytes. Missing if there are no failures, or if the reason is not known.',
    ),
  ),
  answersWithoutResults: z.optional(
    onlyTrue(
      'The downstream has only answered without `results`, so each task counted as succeeded, and `downstream.requireResults` is not set.',
    ),
  ),
  lateAfterSeconds: number('A task that has waited longer than this is late, in seconds.'),
  slots: z.optional(
    z
      .object({ taken: whole('Number of slots that batches hold.'), total: whole('`concurrency.total`.') })
      .check(z.describe('The slots of the operation. Present only if `concurrency.total` is set.')),
  ),
  waitingTargets: whole('Number of Targets that wait for a free slot, counted up to 100.', 0, 100),
  waitingTargetsIsAtLeast: z.optional(onlyTrue('There may be more.')),
  underWay: z.optional(UNDER_WAY),
};
export const OPERATION = z.object(state).check(z.meta({ id: 'Operation', description: 'The state of an operation.' }));
const OPERATION_DETAILS = z
  .object({
    ...state,
    groupedBy: list(z.string(), 'The payload fields by which its tasks are grouped.'),
    batches: list(z.string(), 'The ids of the batches that hold its slots.'),
    targets: list(
      z.object({
        target: text('The Target.'),
        since: moment('Since when the oldest task of the Target has been waiting.'),
      }),
      'The Targets that wait for a free slot, the next one first.',
    ),
  })
  .check(
    z.meta({ id: 'OperationDetails', description: 'The state of an operation with its batches and waiting Targets.' }),
  );

export const SETTING = z
  .object({
    path: text('The key in the configuration: within the operation or, for `register`, within the file.'),
    value: anything(
      'The value as in a configuration file: `"10s"`, `100`; null for none. Literal header values and the query of a URL are hidden.',
    ),
    source: word<SettingSource>('Where the value comes from', {
      operation: 'the configuration sets it for this operation',
      configuration: 'the configuration sets it for all operations',
      derived: 'it is not set, but follows from other settings of this operation',
      'built-in': 'it is not set, so Groupage uses its default',
    }),
    meaning: text('What the setting does.'),
  })
  .check(z.meta({ id: 'Setting', description: 'A setting that applies to an operation.' }));
const CONFIGURATION = z
  .object({
    operation: text('The name of the operation.'),
    settings: list(SETTING, 'All settings that apply to the operation.'),
  })
  .check(
    z.meta({ id: 'OperationConfiguration', description: 'The configuration of an operation, with all defaults.' }),
  );
export type Setting = z.infer<typeof SETTING>;
export type OperationConfiguration = z.infer<typeof CONFIGURATION>;

const OPERATIONS = z
  .object({ operations: list(OPERATION, 'All configured operations.') })
  .check(z.meta({ id: 'OperationList' }));

export type Pause = z.infer<typeof PAUSE>;
export type Operation = z.infer<typeof OPERATION>;
export type OperationDetails = z.infer<typeof OPERATION_DETAILS>;

const ofTarget = { operation: text('The operation of the Target.'), target: text('The Target.') };
const alreadyPaused = flag('Whether the operation or Target was already paused. If so, `since` is unchanged.');
const resuming = flag(
  'True: a message was sent that ends the pause in a moment. False: the operation or Target was not paused.',
);

export const TARGET_PAUSED = z
  .object({ ...ofTarget, paused: PAUSE, alreadyPaused })
  .check(z.meta({ id: 'TargetPaused' }));
const PAUSED = z.union([z.object({ ...state, alreadyPaused }).check(z.meta({ id: 'OperationPaused' })), TARGET_PAUSED]);

const targetResumed = (name: string) =>
  z.object({ ...ofTarget, paused: z.optional(PAUSE), resuming }).check(z.meta({ id: `Target${name}` }));
export const TARGET_RESUMING = targetResumed('Resuming');
const resumedOf = (name: string) =>
  z.union([z.object({ ...state, resuming }).check(z.meta({ id: `Operation${name}` })), targetResumed(name)]);

const NO_OPERATION = 'The operation is not configured.';
const NOTHING_MEANT: Said['problems'] = { 404: `${NO_OPERATION} Or: no task was ever registered for the Target.` };

export const OPERATIONS_DESCRIBED = describeCalls(OPERATION_CALLS, {
  listOperations: {
    summary: 'Lists all operations and their state',
    answers: { 200: { description: 'All configured operations.', schema: OPERATIONS } },
  },
  getOperation: {
    summary: 'Gets the state of an operation',
    answers: { 200: { description: 'The state of the operation.', schema: OPERATION_DETAILS } },
    problems: { 404: NO_OPERATION },
  },
  getConfiguration: {
    summary: 'Gets the configuration of an operation, with all defaults',
    description: 'Each value has its source. The answer contains no secrets, but the names of secrets.',
    answers: { 200: { description: 'The settings of the operation.', schema: CONFIGURATION } },
    problems: { 404: NO_OPERATION },
  },
  pauseOperation: {
    summary: 'Pauses an operation or a Target',
    description:
      'No batch is sealed until the operation or Target is resumed. Calls in progress continue. A repeat changes nothing.',
    example: { reason: 'the depot moves' },
    answers: { 200: { description: 'The state of the operation, or of the Target.', schema: PAUSED } },
    problems: NOTHING_MEANT,
  },
  resumeOperation: {
    summary: 'Resumes an operation or a Target',
    answers: {
      200: { description: 'The operation or Target was not paused.', schema: resumedOf('NotPaused') },
      202: { description: 'A message was sent that ends the pause in a moment.', schema: resumedOf('Resuming') },
    },
    problems: NOTHING_MEANT,
  },
});
