/** Names in bodies of which the configuration alone can tell whether there is such a thing. */
import { type Config, operationNamed } from '../../domain/config/resolved.ts';
import { unknownCallback, unknownOperation } from '../../domain/register/register-message.ts';
import type { Problem } from '../../util/problems.ts';

/** What of these names nothing that is configured. */
export const unconfigured = (
  config: Config,
  { operation, callback }: { readonly operation?: unknown; readonly callback?: unknown },
): Problem[] => [
  ...(typeof operation === 'string' && !operationNamed(config, operation) ? [unknownOperation(config, operation)] : []),
  ...(typeof callback === 'string' ? unknownCallback(config, callback) : []),
];
