/** Who wants something of a list takes turns with others who do, until it is said that there are too many of them. */

import type { ListId } from '../../domain/lists/ids.ts';
import type { Machine } from '../../ports/machine.ts';
import { contend, type Patience } from '../fan-outs/contend.ts';

const PATIENCE: Patience = { tries: 25, pause: 15 };

/** Too many want something of one list at once. */
export class ListBusy extends Error {
  override readonly name = 'ListBusy';
  constructor(id: ListId, why = 'too many ask of it at once') {
    super(`list ${id}: ${why}: ask again in a moment, with the same token or claimId`);
  }
}

/** @param attempt answers undefined where another one was faster. @throws ListBusy */
export const takeTurns = <T>(
  machine: Pick<Machine, 'random' | 'sleep'>,
  id: ListId,
  attempt: () => Promise<T | undefined>,
): Promise<T> => contend(machine, PATIENCE, attempt, () => new ListBusy(id));
