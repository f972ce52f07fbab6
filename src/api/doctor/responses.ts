/** Responses of `/doctor`: their schemas, and their descriptions in the OpenAPI document. */
import * as z from 'zod/mini';
import type { Finding as StoredFinding } from '../../domain/batches/findings.ts';
import type { Phase } from '../../domain/callbacks/share.ts';
import type { Remedy } from '../../steps/repair/repair.ts';
import { PAUSE, UNDER_WAY } from '../operations/responses.ts';
import {
  CURSOR,
  describeCalls,
  flag,
  list,
  moment,
  onlyTrue,
  type Said,
  SKIPPED,
  text,
  whole,
  word,
} from '../shared/answer-schemas.ts';
import { DOCTOR_CALLS } from './requests.ts';

const FINDING = z
  .object({
    finding: word<StoredFinding['finding']>('The finding', {
      stranded: 'tasks wait, and the Target has no leader',
      'expired-lock': "a leader's lease has ended, and no other leader has taken over",
      'leaderless-batch': 'a batch is forming, and the Target has no leader to finish it',
      'overdue-batch': 'an attempt of a batch is overdue',
      forgotten: 'the Target waits for a free slot, but is not in the slot queue of its operation',
      'stuck-slot': 'a finished batch still counts towards `concurrency.perTarget`',
    }),
    operation: text('The operation of the Target.'),
    target: text('The Target that is stuck, or whose batch is stuck.'),
    since: moment('Since when the Target or batch has been stuck.'),
    batchId: z.optional(text('The batch that the finding is about.')),
    tasksWait: z.optional(flag('For a lock: whether tasks are waiting.')),
    repaired: z.optional(flag('Whether the finding was repaired. Present only in answers to a repair.')),
    remedy: z.optional(
      word<Remedy>('The repair', {
        'elect-message': 'an elect message was sent, which elects a leader',
        'batch-message': 'a batch message was sent, which starts the next attempt',
        'lock-released': 'the lock was released',
        'slot-freed': 'the batch no longer counts',
      }),
    ),
    reason: z.optional(
      text(
        'Why the finding could not be repaired. If the field is missing, the finding had changed in the meantime, and nothing was done.',
      ),
    ),
  })
  .check(z.meta({ id: 'Finding', description: 'Something that is stuck.' }));

const found = {
  findings: list(FINDING, 'The findings.'),
  skipped: list(SKIPPED, 'Targets or batches that could not be checked.'),
  cursor: CURSOR,
};
const PAUSED_TARGET = z.object({ target: text('The Target.'), paused: PAUSE });
export const TARGETS_EXAMINED = z
  .object({
    targets: list(z.string(), 'The Targets that were checked.'),
    paused: list(PAUSED_TARGET, 'The checked Targets that have a pause of their own.'),
    ...found,
  })
  .check(z.meta({ id: 'TargetsExamined', description: 'The findings in a page of Targets.' }));
export const BATCHES_EXAMINED = z
  .object({ batches: whole('Number of batches that were checked.'), ...found })
  .check(z.meta({ id: 'BatchesExamined', description: "The findings in a page of a Target's batches." }));

const DESTINATION = z
  .object({
    destination: text('The name of the destination.'),
    phase: word<Phase>('Its state', {
      calm: 'events are delivered at once',
      slow: 'a call took longer than a second, so few calls are made at once',
      down: 'its circuit is open: it is not called until `openUntil`',
      probing: 'its circuit was open, and the next event tests it',
    }),
    failures: whole('Calls in a row that got no answer, or an answer that it cannot serve any request.'),
    openUntil: z.optional(moment('When the next event tests it. Present only while its circuit is open.')),
  })
  .check(z.meta({ id: 'DestinationState', description: 'A destination of events, and its circuit.' }));
export const DESTINATIONS_EXAMINED = z
  .object({ destinations: list(DESTINATION, 'The configured destinations.') })
  .check(z.meta({ id: 'DestinationsExamined' }));

const REMOVED = z
  .object({
    operation: text('The name of the operation, which is not configured.'),
    targets: whole('Number of its Targets with waiting tasks.'),
    waiting: whole('Number of their waiting tasks, for each Target counted up to 100.'),
    waitingIsAtLeast: z.optional(onlyTrue('More tasks than that may be waiting.')),
    oldestAt: z.optional(moment('When the oldest of these waiting tasks was registered.')),
    underWay: z.optional(UNDER_WAY),
  })
  .check(z.meta({ id: 'RemovedOperation', description: 'An operation that is not configured and has work left.' }));
export const REMOVED_EXAMINED = z
  .object({
    looked: whole('Number of Targets whose names were read. `cursor` leads to the next ones.'),
    operations: list(REMOVED, 'The operations with work left among these Targets.'),
    cursor: CURSOR,
  })
  .check(z.meta({ id: 'RemovedExamined' }));

export type RemovedOperation = z.infer<typeof REMOVED>;
export type RemovedExamined = z.infer<typeof REMOVED_EXAMINED>;
export type PausedTarget = z.infer<typeof PAUSED_TARGET>;
export type DestinationState = z.infer<typeof DESTINATION>;
export type Finding = z.infer<typeof FINDING>;

const foundIn = (schema: z.core.$ZodType): Said['answers'] => ({
  200: { description: 'The findings of a page.', schema },
});

export const DOCTOR_DESCRIBED = describeCalls(DOCTOR_CALLS, {
  examineDestinations: {
    summary: 'Shows the circuits of the destinations',
    description: 'Only HTTP destinations have a circuit; the others are always `calm`. Costs half a read unit.',
    answers: { 200: { description: 'The state of each destination.', schema: DESTINATIONS_EXAMINED } },
  },
  examineRemoved: {
    summary: 'Finds operations that are no longer configured, but have work left',
    description:
      'Reads the names of 1,000 Targets (about 13 read units), and the state of those whose operation is not configured.',
    answers: { 200: { description: 'The operations with work left.', schema: REMOVED_EXAMINED } },
  },
  examineTargets: { summary: 'Checks a page of Targets', answers: foundIn(TARGETS_EXAMINED) },
  repairTargets: { summary: 'Checks and repairs a page of Targets', answers: foundIn(TARGETS_EXAMINED) },
  examineBatches: { summary: "Checks a page of a Target's batches", answers: foundIn(BATCHES_EXAMINED) },
  repairBatches: {
    summary: "Checks and repairs a page of a Target's batches",
    answers: foundIn(BATCHES_EXAMINED),
  },
});
