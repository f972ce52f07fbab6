/** Settings of an operation's policy that simulations vary, and how they change a configuration. */

import { printDuration } from '../../src/domain/config/duration.ts';
import type { Config, Operation } from '../../src/domain/config/resolved.ts';
import { parseConfig } from '../../src/domain/config/schema/config.ts';
import { isObject } from '../../src/util/json-text.ts';
import type { Parsed } from '../../src/util/problems.ts';

interface SettingOf {
  readonly section: 'batch' | 'concurrency';
  readonly kind: 'duration' | 'count';
  /** The setting that this setting replaces. A configuration with both settings is invalid. */
  readonly replaces?: SettingName;
  readonly of: (operation: Operation) => number | null;
}

export type SettingName = 'maxWait' | 'maxSize' | 'quietPeriod' | 'minSize' | 'window' | 'perTarget' | 'total';

export const SETTINGS: Readonly<Record<SettingName, SettingOf>> = {
  maxWait: { section: 'batch', kind: 'duration', replaces: 'window', of: ({ batch }) => batch.maxWait },
  maxSize: { section: 'batch', kind: 'count', of: ({ batch }) => batch.maxSize },
  quietPeriod: { section: 'batch', kind: 'duration', of: ({ batch }) => batch.quietPeriod },
  minSize: { section: 'batch', kind: 'count', of: ({ batch }) => batch.minSize },
  window: { section: 'batch', kind: 'duration', replaces: 'maxWait', of: ({ batch }) => batch.window },
  perTarget: { section: 'concurrency', kind: 'count', of: ({ concurrency }) => concurrency.perTarget },
  total: { section: 'concurrency', kind: 'count', of: ({ concurrency }) => concurrency.total },
};

export const SETTING_NAMES = Object.keys(SETTINGS) as SettingName[];

/** Values of settings, in milliseconds or as counts. */
export type Policy = Readonly<Partial<Record<SettingName, number>>>;

/** The value as in a configuration: `"5s"`, `100`. */
export const written = (name: SettingName, value: number): string | number =>
  SETTINGS[name].kind === 'duration' ? printDuration(value) : value;

/** A policy as text, such as `maxWait=5s maxSize=100`. */
export const printPolicy = (policy: Policy): string =>
  Object.entries(policy)
    .map(([name, value]) => `${name}=${written(name as SettingName, value)}`)
    .join(' ');

/** Current values of these settings in an operation, without settings that are null. */
export const policyOf = (operation: Operation, names: readonly SettingName[]): Policy =>
  Object.fromEntries(
    names.flatMap((name) => {
      const value = SETTINGS[name].of(operation);
      return value === null ? [] : [[name, value]];
    }),
  );

/** Members of an object; empty for any other value. */
const members = (value: unknown): Readonly<Record<string, unknown>> => (isObject(value) ? value : {});

/**
 * A configuration with one operation's policy changed, parsed like any other.
 *
 * @param input the configuration before parsing
 * @returns the parsed configuration, or its problems
 */
export const configWith = (input: unknown, operation: string, policy: Policy): Parsed<Config> => {
  const operations = members(members(input).operations);
  let changed = members(operations[operation]);
  for (const [name, value] of Object.entries(policy) as [SettingName, number][]) {
    const { section, replaces } = SETTINGS[name];
    const { [replaces ?? '']: _, ...kept } = members(changed[section]);
    changed = { ...changed, [section]: { ...kept, [name]: written(name, value) } };
  }
  return parseConfig({ ...members(input), operations: { ...operations, [operation]: changed } });
};
