/** Finds out where each value of a resolved operation comes from. */
import { isObject } from '../../../util/json-text.ts';
import type { SettingPath } from '../meanings.ts';
import type { Operation } from '../resolved.ts';
import { type SettingSource, SHARED_SETTINGS, type Sources, settingsIn } from '../settings.ts';

/** Whether a configuration sets the value at a path. A member that is `undefined` counts as left out, as in zod. */
const isSet = (input: unknown, path: string): boolean =>
  path.split('.').reduce<unknown>((at, name) => (isObject(at) ? at[name] : undefined), input) !== undefined;

/**
 * The sources of an operation's settings. A value that is not set, and differs from the same operation with nothing
 * set, was derived from another setting.
 *
 * @param input the valid configuration as written
 * @param bare the same operation, resolved with its required settings alone
 */
export const sourcesOf = (input: unknown, operation: Operation, bare: Operation): Sources => {
  const all = isObject(input) ? input : {};
  const written = isObject(all.operations) ? all.operations[operation.operation] : undefined;
  const usual = new Map(settingsIn(bare).map(([path, value]) => [path, JSON.stringify(value)]));
  const sourceOf = (path: SettingPath, value: unknown): SettingSource => {
    if (isSet(written, path)) return 'operation';
    return usual.get(path) === JSON.stringify(value) ? 'built-in' : 'derived';
  };
  const own = settingsIn(operation).map(([path, value]) => [path, sourceOf(path, value)] as const);
  const shared = SHARED_SETTINGS.filter((path) => isSet(all, path)).map((path) => [path, 'configuration'] as const);
  return Object.fromEntries([...own.filter(([, source]) => source !== 'built-in'), ...shared]);
};
