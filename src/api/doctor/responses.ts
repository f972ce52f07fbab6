/** Responses of `/doctor`: their schemas, and their descriptions in the OpenAPI document. */
import * as z from 'zod/mini';
import type { Finding as StoredFinding } from '../../domain/batches/findings.ts';
import type { Remedy } from '../../steps/repair/repair.ts';
import {
  CURSOR,
  describeCalls,
  flag,
  list,
  moment,
  type Said,
  SKIPPED,
  text,
  whole,
  word,
} from '../shared/answer-schemas.ts';
import { DOCTOR_CALLS } from './requests.ts';

const FINDING = z
  .object({
    finding: word<StoredFinding['finding']>('What is stuck', {
      stranded: 'tasks wait, and nobody leads',
      'expired-lock': "a leader's lease is over, and nobody took its place",
      'leaderless-batch': 'a batch was begun, and nobody leads who would finish it',
      'overdue-batch': 'a batch should have been called about',
      forgotten: 'it waits for room in its operation, which does not know of it',
      'stuck-slot': 'a batch is over and still holds its place in the Target',
    }),
    operation: text('Its operation.'),
    target: text('Its Target.'),
    since: moment('Since when nobody saw to it.'),
    batchId: z.optional(text('The batch, where it is about one.')),
    tasksWait: z.optional(flag('Of a lock: whether tasks wait for it.')),
    repaired: z.optional(flag('Where it was to be repaired: whether it was.')),
    remedy: z.optional(
      word<Remedy>('What was done', {
        'elect-message': 'somebody is elected',
        'batch-message': 'the batch is called about',
        'lock-released': 'the lock is free',
        'slot-freed': 'the place is free',
      }),
    ),
    reason: z.optional(text('Why it could not be repaired. Without one something had changed in the meantime.')),
  })
  .check(z.meta({ id: 'Finding', description: 'Something that is stuck.' }));

const found = {
  findings: list(FINDING, 'What is stuck.'),
  skipped: list(SKIPPED, 'What could not be looked at.'),
  cursor: CURSOR,
};
export const TARGETS_EXAMINED = z
  .object({ targets: list(z.string(), 'Those that were looked at.'), ...found })
  .check(z.meta({ id: 'TargetsExamined', description: 'What is stuck in a page of Targets.' }));
export const BATCHES_EXAMINED = z
  .object({ batches: whole('How many were looked at.'), ...found })
  .check(z.meta({ id: 'BatchesExamined', description: "What is stuck in a page of a Target's batches." }));

export type Finding = z.infer<typeof FINDING>;

const foundIn = (schema: z.core.$ZodType): Said['answers'] => ({
  200: { description: 'What was found in a page.', schema },
});

export const DOCTOR_DESCRIBED = describeCalls(DOCTOR_CALLS, {
  examineTargets: { summary: 'What is stuck in a page of Targets', answers: foundIn(TARGETS_EXAMINED) },
  repairTargets: { summary: 'Repairs what is stuck in a page of Targets', answers: foundIn(TARGETS_EXAMINED) },
  examineBatches: { summary: "What is stuck in a page of a Target's batches", answers: foundIn(BATCHES_EXAMINED) },
  repairBatches: {
    summary: "Repairs what is stuck in a page of a Target's batches",
    answers: foundIn(BATCHES_EXAMINED),
  },
});
