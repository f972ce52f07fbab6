/** Refuses calls of callers whose rights are limited. */
import type { Context } from 'hono';
import { includes, limitOf, type Right } from '../../domain/deployed/limits.ts';
import { callerOf } from './caller.ts';
import type { ApiDeps } from './deps.ts';
import { HttpProblem } from './problem.ts';

/** @throws HttpProblem 403 */
export const expectRight = (
  { limits }: Pick<ApiDeps, 'limits'>,
  context: Context,
  { right }: { readonly right: Right },
): void => {
  // A local API has no IAM, and no limits.
  if (!limits || limits.size === 0) return;
  const { principal } = callerOf(context);
  const limit = limitOf(limits, principal);
  if (limit === undefined) return;
  if (limit === 'none') throw new HttpProblem(403, `${NOTHING_DONE} ${WHY_NONE[principal ? 'federated' : 'unknown']}`);
  if (includes(limit, right)) return;
  throw new HttpProblem(
    403,
    `${NOTHING_DONE} ${principal?.kind} ${principal?.name} has the right ${MEANING[limit]}, and this call needs the right ${MEANING[right]}. To get it, ask the owner of the stack for ${GRANTS[right]}`,
  );
};

const NOTHING_DONE = 'nothing was done:';

const WHY_NONE = {
  unknown:
    'the request has no identity of IAM, and the rights of this API are limited. Send it through the address of the API',
  federated:
    'the rights of users of this account are limited, and a federation token does not say which user requested it. Use the credentials of the user or of a role',
} as const;

const MEANING: Readonly<Record<Right, string>> = {
  read: 'read',
  operate: 'operate (pause, resume, redrive, cancel, flush, repair, delete)',
  work: 'work (send tasks, add items and jobs, claim)',
};

/** The methods of the construct that give a right. */
const GRANTS: Readonly<Record<Right, string>> = {
  read: 'groupage.grantRead for it',
  operate: 'groupage.grantOperate for it',
  work: 'groupage.grantApi for it',
};
