/** `/v1/failures`: failed tasks of all Targets, grouped by cause. */

import type { Hono } from 'hono';
import { digest } from '../../domain/ids.ts';
import type { FailedTask } from '../../ports/tasks.ts';
import { serve } from '../shared/calls.ts';
import type { ApiDeps } from '../shared/deps.ts';
import { operationAsked } from '../shared/input.ts';
import { causeOf } from './cause.ts';
import { FAILURE_CALLS } from './requests.ts';

/** Maximum number of failed tasks that one request reads. One redrive request takes the same number of ids. */
const LOOKED_AT = 1_000;

export const failureRoutes = (deps: ApiDeps): Hono =>
  serve(deps, FAILURE_CALLS, {
    listFailures: async ({ context, query }) => {
      const { operation: asked, cursor } = query();
      const operation = asked === undefined ? undefined : operationAsked(deps.config, asked);
      const { items, looked, ...next } = await deps.tasks.failures(operation, LOOKED_AT, cursor);
      return context.json({ groups: groupsOf(items), looked, ...next });
    },
  });

/**
 * A page with more groups than this shows only the beginning of their texts, because Lambda limits an answer to 6 MB. A
 * character may take seven bytes in it.
 */
const SHOWN_IN_FULL = 100;
const SHORT = 200;

/** Groups of failed tasks, the largest first. */
const groupsOf = (failed: readonly FailedTask[]) => {
  const causes = failed.map((task) => ({ task, cause: causeOf(task.error.message, [task.id, task.target]) }));
  const groups = Map.groupBy(causes, ({ task, cause }) => keyOf(task, cause));
  const most = groups.size > SHOWN_IN_FULL ? SHORT : undefined;
  return [...groups.entries()]
    .map(([key, members]) => groupOf(key, members, most))
    .toSorted((a, b) => b.tasks - a.tasks);
};

/** The key of a group of failed tasks. Tasks with the same cause get the same key on every page. */
const keyOf = ({ operation, error: { code } }: FailedTask, cause: string): string =>
  digest([operation, code, cause].join('\n')).slice(0, 10);

/** @param most the number of characters that cause and message show. @default - all */
const groupOf = (
  key: string,
  members: readonly { readonly task: FailedTask; readonly cause: string }[],
  most: number | undefined,
) => {
  const [{ task, cause }] = members as [(typeof members)[number]];
  return {
    key,
    operation: task.operation,
    code: task.error.code,
    cause: cause.slice(0, most).toWellFormed(),
    message: task.error.message.slice(0, most).toWellFormed(),
    tasks: members.length,
    targets: new Set(members.map(({ task: { target } }) => target)).size,
    ids: members.map(({ task: { id } }) => id),
  };
};
