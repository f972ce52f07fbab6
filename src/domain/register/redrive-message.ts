/** The message on the register queue that asks for another run of a failed task. */
import * as z from 'zod/mini';
import type { NumberLimits, TextLimits } from '../../util/limits.ts';
import { type Parsed, problemsIn } from '../../util/problems.ts';
import { TASK_ID_PATTERN, type TaskId } from '../ids.ts';
import type { TaskRun } from '../tasks/task.ts';
import { numberOf, textOf } from './register-fields.ts';

/** The limits of the fields, both for the check here and for the published schema. */
export const REDRIVE_LIMITS = {
  id: { pattern: TASK_ID_PATTERN },
  run: { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER },
} as const satisfies Readonly<Record<string, TextLimits | NumberLimits>>;

export const redriveFields = z.strictObject({
  id: textOf('must be the id of a task, a text', REDRIVE_LIMITS.id),
  run: numberOf('must be a whole number, 1 or more', REDRIVE_LIMITS.run),
});

/** The body of a message that asks for another run of a task after `run`. A repeated or late message does no harm. */
export const printRedrive = ({ id, run }: TaskRun): string => JSON.stringify({ id, run });

export const parseRedrive = (json: unknown): Parsed<TaskRun> => {
  const fields = redriveFields.safeParse(json);
  return fields.success
    ? { ok: true, value: { id: fields.data.id as TaskId, run: fields.data.run } }
    : { ok: false, problems: problemsIn(fields.error, 'a redrive') };
};
