/** Requests of `/operations`: the routes, and the schemas of their parameters and bodies. */
import * as z from 'zod/mini';
import type { Calls } from '../shared/calls.ts';
import { fields, target, text } from '../shared/fields.ts';

/** Maximum number of characters of a reason. Each change of the row writes the reason again, so it must be short. */
const REASON_MAX = 200;

const ONE_TARGET = z.optional(target('Pause or resume only this Target.'));

const PAUSING = fields({
  target: ONE_TARGET,
  reason: z.optional(
    text('The reason, shown to users.', `must be well-formed text of 1 to ${REASON_MAX} characters`, {
      minLength: 1,
      maxLength: REASON_MAX,
    }),
  ),
}).check(z.meta({ id: 'PauseRequest' }));
const RESUMING = fields({ target: ONE_TARGET }).check(z.meta({ id: 'ResumeRequest' }));

export const OPERATION_CALLS = {
  listOperations: { on: 'GET /operations', right: 'read' },
  getOperation: { on: 'GET /operations/:name', right: 'read' },
  getConfiguration: { on: 'GET /operations/:name/configuration', right: 'read' },
  pauseOperation: { on: 'POST /operations/:name/pause', right: 'operate', audit: 'pause', body: PAUSING },
  resumeOperation: { on: 'POST /operations/:name/resume', right: 'operate', audit: 'resume', body: RESUMING },
} satisfies Calls;
