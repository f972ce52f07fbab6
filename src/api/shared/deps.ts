/** What the HTTP API is given. */

import type { Fleets } from '../../ports/fleets.ts';
import type { Backlogs } from '../../ports/queues.ts';
import type { ReadMeter } from '../../ports/rows.ts';
import type { Deps } from '../../steps/deps.ts';

export type ApiDeps = Pick<
  Deps,
  | 'config'
  | 'tasks'
  | 'waiting'
  | 'locks'
  | 'batches'
  | 'operations'
  | 'fanOuts'
  | 'lists'
  | 'queues'
  | 'deadLetters'
  | 'machine'
  | 'report'
> & {
  readonly fleets: Pick<Fleets, 'names' | 'read' | 'checkpointOf' | 'drain' | 'separate' | 'pin'>;
  readonly backlogs: Backlogs;
  /** Without one no answer says what was read for it. */
  readonly readMeter?: ReadMeter;
  /** Its description, an OpenAPI document, read when it is asked for. Without one it has none. */
  readonly openApi?: () => object;
  /** Names a task or a fan-out whose sender did not. */
  readonly newId: () => string;
  /** Is told of a failure, of which the answer says little or nothing. */
  readonly onError: (cause: unknown) => void;
};
