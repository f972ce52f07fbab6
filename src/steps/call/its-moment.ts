/** The moment of an attempt's first call, where its operation has a rate. */

import type { Batch } from '../../domain/batches/batch.ts';
import { again, type DueMessage } from '../../domain/batches/messages.ts';
import type { Operation } from '../../domain/config/resolved.ts';
import { delaySeconds } from '../../domain/delay.ts';
import { NAP, reachOf, reservedIn, sleepSeconds } from '../../domain/operations/call-rate.ts';
import type { OperationState } from '../../domain/operations/slots.ts';
import type { Invocation } from '../../ports/machine.ts';
import type { Deps } from '../deps.ts';
import { lookLater } from './hold.ts';
import { reserveCall } from './reserve-call.ts';

type MomentDeps = Pick<Deps, 'batches' | 'operations' | 'queues' | 'machine' | 'report'>;

/**
 * Whether the first call may be made now. Otherwise the batch's message comes back: at the moment that was reserved for it, or,
 * where none was free within its reach, to ask again.
 *
 * @param state the operation's row, as it was just read.
 */
export const isItsMoment = async (
  deps: MomentDeps,
  message: DueMessage,
  batch: Pick<Batch, 'id' | 'held' | 'sealedAt' | 'oldestAt'>,
  { operation, rateLimit: rate }: Pick<Operation, 'operation' | 'rateLimit'>,
  { line }: Pick<OperationState, 'line'>,
  invocation: Invocation,
): Promise<boolean> => {
  const { operations, queues, machine } = deps;
  if (rate === null) {
    // If there is a rate again later, no batch has to wait for moments that were reserved before.
    if (line) await operations.reserveCall(operation, line, undefined);
    return true;
  }
  const now = machine.now();
  const kept = reservedIn(message, line, rate, now);
  const asked = { operation, rate, latest: now + reachOf(now - (batch.sealedAt ?? batch.oldestAt)) };
  const moment = kept === undefined ? await reserveCall(deps, asked, line, invocation) : { at: kept, line };
  if (!moment) {
    // A batch far back in line asks each minute, for hours: as one that is held.
    await lookLater(deps, message, batch, Math.floor(sleepSeconds(machine.random())));
    return false;
  }
  const wait = moment.at - machine.now();
  if (wait > NAP) {
    await queues.batch({ ...again(message), at: Math.ceil(moment.at), line: moment.line?.since }, delaySeconds(wait));
    return false;
  }
  if (wait > 0) await machine.sleep(wait);
  return true;
};
