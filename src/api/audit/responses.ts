/** Responses of `/audit`: their schemas, and their descriptions in the OpenAPI document. */
import * as z from 'zod/mini';
import { ACTIONS, REASON_MAX, type Subject } from '../../domain/audit/entry.ts';
import { CURSOR, describeCalls, list, moment, text, whole, word } from '../shared/answer-schemas.ts';
import { AUDIT_CALLS } from './requests.ts';

const some = (description: string) => z.optional(text(description));

const SUBJECT = z
  .object({
    operation: some('The operation.'),
    target: some('The Target.'),
    task: some('The id of the task.'),
    tasks: some('The ids of the tasks, at most ten, and the number of the others.'),
    batch: some('The id of the batch.'),
    queue: some('The queue whose messages were redriven or discarded.'),
    messages: some(
      'The ids of its messages, at most ten, and the number of the others. Missing if the call was for all messages.',
    ),
    list: some('The id of the list.'),
    claim: some('The id of the claim of the list.'),
    fanOut: some('The id of the fan-out.'),
    fleet: some('The name of the fleet.'),
    node: some('The key or id of the node.'),
    partition: some('The id of the partition.'),
    to: some('The node to which the partition was moved, or `any node`.'),
    draining: some('`true` if the node began to give its partitions away, `false` if it stopped.'),
  } satisfies Record<keyof Subject, unknown>)
  .check(
    z.meta({
      id: 'AuditSubject',
      description:
        'What the action was about, as in the request; at most 600 bytes, of longer texts the beginnings. Empty if it was about all Targets.',
    }),
  );

const ACTOR = z
  .object({
    id: text(
      "IAM's unique id of the role or user (`AROA…`, `AIDA…`), the id of the account for its root user, `local` for a local stack, or `unknown`.",
    ),
    name: some("The name of the role or user; of a local stack, that of the operating system's user."),
    arn: some('The ARN. For a role, it contains the name of the session.'),
    from: some('The IP address.'),
    userAgent: some('The program, as it named itself; at most 200 bytes.'),
  })
  .check(z.meta({ id: 'AuditActor', description: 'Who sent the request.' }));

export const AUDIT_ENTRY = z
  .object({
    at: moment('When the request arrived.'),
    id: text('Identifies the entry together with `at`.'),
    action: word('The action', ACTIONS),
    subject: SUBJECT,
    actor: ACTOR,
    reason: z.optional(text('The reason in the request.', { minLength: 1, maxLength: REASON_MAX })),
    outcome: word('The outcome', {
      done: 'the request succeeded',
      refused: 'the request was refused, and nothing was done',
      failed: 'the request failed; part of it may have been done',
      unknown: 'the action is under way, or its outcome could not be stored',
    }),
    status: z.optional(whole('The HTTP status of the answer.', 200, 599)),
  })
  .check(z.meta({ id: 'AuditEntry', description: 'An action, and who took it.' }));
export type AuditEntry = z.infer<typeof AUDIT_ENTRY>;

const AUDIT_PAGE = z
  .object({ entries: list(AUDIT_ENTRY, 'The newest entries first.'), cursor: CURSOR })
  .check(z.meta({ id: 'AuditPage', description: 'A page of the audit trail.' }));
export type AuditPage = z.infer<typeof AUDIT_PAGE>;

export const AUDIT_DESCRIBED = describeCalls(AUDIT_CALLS, {
  listAudit: {
    summary: 'Lists who did what, and why',
    description: 'Entries are kept for `keepAudit`. Calls of services that only do their work are not recorded.',
    answers: { 200: { description: 'A page of entries.', schema: AUDIT_PAGE } },
  },
});
