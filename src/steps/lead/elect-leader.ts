/** Elect: one of many messages finds a Target a leader; the others cost one read each and never poll (rules E1 to E3). */

import { isClosed, isHeld } from '../../domain/batches/lock.ts';
import type { ElectMessage, ResumeMessage } from '../../domain/batches/messages.ts';
import { operationFor } from '../../domain/config/resolved.ts';
import { operationOf } from '../../domain/ids.ts';
import type { Deps } from '../deps.ts';
import { resumeOperation } from '../slots/resume.ts';
import { isNothingLeft } from '../slots/unconfigured.ts';
import { wake } from '../slots/wake.ts';
import { lead } from './lead.ts';

type ElectDeps = Pick<Deps, 'config' | 'waiting' | 'locks' | 'operations' | 'queues' | 'machine' | 'report'>;

export const electLeader = async (deps: ElectDeps, message: ElectMessage | ResumeMessage): Promise<void> =>
  'operation' in message ? resumeOperation(deps, message) : electFor(deps, message);

const electFor = async (deps: ElectDeps, message: ElectMessage): Promise<void> => {
  const { target } = message;
  const isPlain = message.wake === undefined && message.resume === undefined;
  if (isPlain && (await isNothingLeft(deps, target))) return;
  const operation = operationFor(deps.config, operationOf(target));
  if (message.resume !== undefined) await deps.locks.resume(target, message.resume, deps.machine.now());
  for (;;) {
    const lock = await deps.locks.read(target);
    // What it was waked for was seen to by somebody else: the room is for the next one.
    if (
      message.wake !== undefined &&
      (lock.fence !== message.wake || isClosed(lock, operation.concurrency, deps.locks.pageSize))
    ) {
      await wake(deps, operation.operation);
      return;
    }
    if (isClosed(lock, operation.concurrency, deps.locks.pageSize)) return;
    if (isHeld(lock, deps.machine.now())) {
      // He may sleep for long, and nobody told him of a batch that became full while it was paused.
      if (message.resume !== undefined && lock.holder)
        await deps.queues.group({ target, fence: lock.fence, token: lock.holder, hint: true }, 0);
      return;
    }
    const isBlocked = lock.blocked !== undefined;
    // It waits for room: a task more does not make any.
    if (isBlocked && message.wake === undefined && message.resume === undefined) return;
    const rows = await deps.waiting.first(target, operation.batch.maxSize);
    // A batch that was left open is finished even when nobody waits behind it, and one that waited for room does not any more.
    if (rows.length === 0 && !lock.openBatch && !isBlocked) return;
    if (await lead(deps, target, lock, rows)) return;
  }
};
