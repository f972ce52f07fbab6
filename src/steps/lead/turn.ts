/** What the steps for one group message share. */
import type { GroupMessage } from '../../domain/batches/messages.ts';
import { type Operation, operationFor } from '../../domain/config/resolved.ts';
import { type Millis, operationOf } from '../../domain/ids.ts';
import type { Delivery } from '../../ports/machine.ts';
import type { GroupDeps } from '../deps.ts';

export interface Turn {
  readonly deps: GroupDeps;
  readonly message: GroupMessage;
  readonly delivery: Delivery;
  /** Time at which the function began to handle this message. */
  readonly began: Millis;
  /** The moments that the message brought, until they are used. */
  granted: GroupMessage['granted'];
  /** Whether this function has opened a batch, so that no other message drives the Target. */
  hasOpened: boolean;
}

export const operationOfTurn = ({ deps, message: { target } }: Turn): Operation =>
  operationFor(deps.config, operationOf(target));
