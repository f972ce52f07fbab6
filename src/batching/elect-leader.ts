/** Elect: one of many messages finds a Target a leader; the others cost one read each and never poll (rules E1 to E3). */
import { operationFor } from '../config/resolved.ts';
import type { Deps } from './deps.ts';
import { operationOf } from './ids.ts';
import { lead } from './lead.ts';
import { isHeld } from './lock.ts';
import type { ElectMessage } from './messages.ts';

type ElectDeps = Pick<Deps, 'config' | 'waiting' | 'locks' | 'queues' | 'machine' | 'report'>;

export const electLeader = async (deps: ElectDeps, { target }: ElectMessage): Promise<void> => {
  const { maxSize } = operationFor(deps.config, operationOf(target)).batch;
  for (;;) {
    const lock = await deps.locks.read(target);
    if (isHeld(lock, deps.machine.now())) return;
    const rows = await deps.waiting.first(target, maxSize);
    // A batch that was left open is finished even when nobody waits behind it.
    if (rows.length === 0 && !lock.openBatch) return;
    if (await lead(deps, target, lock, rows)) return;
  }
};
