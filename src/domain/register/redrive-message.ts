/** The message that asks for another run of a failed task, on the register queue. */
import * as z from 'zod/mini';
import { isNumberWithin, isTextWithin, type NumberLimits, type TextLimits } from '../../util/limits.ts';
import { type Parsed, problemsIn } from '../../util/problems.ts';
import { TASK_ID_PATTERN, type TaskId } from '../ids.ts';
import type { TaskRun } from '../tasks/task.ts';

const ID_WANTED = 'must be the id of a task, a text';

/** As with a register message: they are checked by this, and the published schema says it. */
export const REDRIVE_LIMITS = {
  id: { pattern: TASK_ID_PATTERN },
  run: { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER },
} as const satisfies Readonly<Record<string, TextLimits | NumberLimits>>;

const RUN_WANTED = 'must be a whole number, 1 or more';

export const redriveFields = z.strictObject({
  id: z
    .string({ error: ID_WANTED })
    .check(z.refine((text) => isTextWithin(text, REDRIVE_LIMITS.id), { error: ID_WANTED })),
  run: z
    .number({ error: RUN_WANTED })
    .check(z.refine((run) => isNumberWithin(run, REDRIVE_LIMITS.run), { error: RUN_WANTED })),
});

/** The body of a message that asks for another run of a task after `run`. Harmless if it comes twice, or late. */
export const printRedrive = ({ id, run }: TaskRun): string => JSON.stringify({ id, run });

export const parseRedrive = (json: unknown): Parsed<TaskRun> => {
  const fields = redriveFields.safeParse(json);
  return fields.success
    ? { ok: true, value: { id: fields.data.id as TaskId, run: fields.data.run } }
    : { ok: false, problems: problemsIn(fields.error, 'a redrive') };
};
