/** Seal (T5): nothing is added any more, and what is done already can now be known to be all. */

import type { FanOutId } from '../../domain/fan-out-ids.ts';
import { type FanOut, isDone } from '../../domain/fan-outs/fan-out.ts';
import { nodesAt, topLevel } from '../../domain/fan-outs/tree.ts';
import { climb } from './climb.ts';
import type { FanOutDeps } from './deps.ts';
import { completeAll } from './end.ts';
import { failFastIfDue } from './fail-fast.ts';

export type Sealed =
  | { readonly kind: 'sealed'; readonly complete: boolean; readonly fanOut: FanOut }
  | { readonly kind: 'expired' }
  | { readonly kind: 'unknown' };

/** Again is harmless: it looks again, and answers the same, or that it is complete by now. */
export const seal = async (deps: FanOutDeps, id: FanOutId): Promise<Sealed> => {
  const sealed = await deps.fanOuts.seal(id, deps.machine.now());
  const fanOut = sealed?.status === 'sealed' ? await finishSealed(deps, sealed) : sealed;
  if (!fanOut) return { kind: 'unknown' };
  if (fanOut.status === 'expired') return { kind: 'expired' };
  return { kind: 'sealed', complete: fanOut.status === 'complete', fanOut };
};

/**
 * Completes a sealed fan-out if all of it is done. Of each level the last node alone may be done without having climbed: all
 * others are full when they are done. @returns the fan-out as it is then
 */
export const finishSealed = async (deps: FanOutDeps, fanOut: FanOut): Promise<FanOut | undefined> => {
  const { fanOuts } = deps;
  const { id, groups } = fanOut;
  if (groups === 0) return completeAll(deps, fanOut, 0);
  const early = await failFastIfDue(deps, fanOut);
  if (early.isComplete) return early.fanOut;
  for (let level = 0; level <= topLevel(groups, fanOuts.width); level += 1) {
    const position = { level, n: nodesAt(groups, level, fanOuts.width) - 1 };
    const node = await fanOuts.node(id, position);
    if (!node || !isDone(fanOut, position, node, fanOuts.width)) continue;
    const standing = await climb(deps, id, position, node, true);
    if (standing.isComplete || standing.isUnknown) return standing.fanOut ?? (await fanOuts.read(id));
  }
  return fanOut;
};
