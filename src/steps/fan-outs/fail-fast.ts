/** Fail fast (T7): more failed items than are tolerated complete a fan-out before all of it is done. */

import type { FanOutId } from '../../domain/fan-out-ids.ts';
import {
  type FanOut,
  isTooMany,
  type Standing,
  standingOf,
  sumsFailures,
  TOLERATED_MAX,
} from '../../domain/fan-outs/fan-out.ts';
import { nodesAt } from '../../domain/fan-outs/tree.ts';
import type { FanOutDeps } from './deps.ts';
import { failFast } from './end.ts';

/** Notes items that failed, if the fan-out wants to know. @param fails `group:index` */
export const noteFails = async (deps: FanOutDeps, id: FanOutId, fails: readonly string[]): Promise<Standing> => {
  const fanOut = await deps.fanOuts.read(id);
  if (!fanOut?.failFast || fanOut.ended || sumsFailures(fanOut)) return standingOf(fanOut);
  const unknown = fails.filter((each) => !fanOut.fails.includes(each)).slice(0, TOLERATED_MAX + 1);
  const noted = unknown.length > 0 ? await deps.fanOuts.noteFails(id, unknown, TOLERATED_MAX) : fanOut;
  return failFastIfDue(deps, noted ?? fanOut);
};

/**
 * Completes a fan-out of which too much failed, as far as is known without looking at every group: failed items are noted
 * one by one up to {@link TOLERATED_MAX}; more are summed over the groups that are done.
 */
export const failFastIfDue = async (deps: FanOutDeps, fanOut: FanOut): Promise<Standing> => {
  if (fanOut.ended) return standingOf(fanOut);
  const failed = sumsFailures(fanOut) ? await failedInDone(deps, fanOut) : fanOut.fails.length;
  return standingOf(isTooMany(fanOut, failed) ? await failFast(deps, fanOut, failed) : fanOut);
};

const failedInDone = async ({ fanOuts }: FanOutDeps, { id, groups }: FanOut): Promise<number> => {
  const parents = Array.from({ length: nodesAt(groups, 1, fanOuts.width) }, (_, n) => ({ level: 1, n }));
  const counts = await fanOuts.counts(id, parents);
  return counts.reduce((sum, node) => sum + (node?.failed ?? 0), 0);
};
