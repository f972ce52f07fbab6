/** The dependencies of the HTTP API. */

import type { Limits } from '../../domain/deployed/limits.ts';
import type { RulesMode } from '../../domain/producers/rules.ts';
import type { Audit } from '../../ports/audit.ts';
import type { Shares } from '../../ports/callbacks.ts';
import type { Fleets } from '../../ports/fleets.ts';
import type { Backlogs } from '../../ports/queues.ts';
import type { ReadMeter } from '../../ports/rows.ts';
import type { Deps } from '../../steps/deps.ts';
import type { Powers } from '../../steps/producers/judge.ts';

export type ApiDeps = Pick<
  Deps,
  | 'config'
  | 'tasks'
  | 'waiting'
  | 'locks'
  | 'batches'
  | 'operations'
  | 'buckets'
  | 'fanOuts'
  | 'lists'
  | 'queues'
  | 'deadLetters'
  | 'machine'
  | 'report'
> & {
  readonly fleets: Pick<Fleets, 'names' | 'read' | 'checkpointOf' | 'drain' | 'separate' | 'pin'>;
  readonly backlogs: Backlogs;
  readonly audit: Audit;
  /** The circuits of the destinations. */
  readonly shares: Pick<Shares, 'read'>;
  /** The mode is undefined until the stage has registered its first message. */
  readonly powers: Pick<Powers, 'producers'> & { mode(): Promise<RulesMode | undefined> };
  /** @default - answers have no `groupage-read-units` header */
  readonly readMeter?: ReadMeter;
  /** Callers whose rights are limited. @default - each caller has all rights */
  readonly limits?: Limits;
  /** Reads the OpenAPI document on demand. @default - `GET /openapi.json` answers 404 */
  readonly openApi?: () => object;
  /** Creates an id for a task, fan-out or list if the request has no id. */
  readonly newId: () => string;
  /** Logs an error whose details are not part of the answer. */
  readonly onError: (cause: unknown) => void;
};
