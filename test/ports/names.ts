import type { BatchId, Target, TaskId } from '../../src/domain/ids.ts';
import { batchId, id, target } from '../factories/factories.ts';

/** Tests share an engine, so each test uses names of its own. */
let made = 0;
export const fresh = (): { readonly t: (n: number) => TaskId; readonly target: Target; readonly batch: BatchId } => {
  made += 1;
  const run = `r${made}`;
  return { t: (n) => id(`${run}-${n}`), target: target(`ship/depot=${run}`), batch: batchId(`ship/depot=${run}#1#1`) };
};
