/** Checks names in bodies against the configuration. */
import { type Config, operationNamed } from '../../domain/config/resolved.ts';
import { unknownCallback, unknownOperation } from '../../domain/register/register-message.ts';
import type { Problem } from '../../util/problems.ts';

/** Returns a problem for each name that is not configured. */
export const unconfigured = (
  config: Config,
  { operation, callback }: { readonly operation?: unknown; readonly callback?: unknown },
): Problem[] => [
  ...(typeof operation === 'string' && !operationNamed(config, operation) ? [unknownOperation(config, operation)] : []),
  ...(typeof callback === 'string' ? unknownCallback(config, callback) : []),
];
