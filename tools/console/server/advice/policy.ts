/** The batch policy of an operation, as its configuration in the API's answer shows it. Pure. */
import { parseDuration } from '../../../../src/domain/config/duration.ts';
import type { Millis } from '../../../../src/domain/ids.ts';
import type { SettingName } from '../../../simulate/settings.ts';

/** A setting in an answer of `GET /operations/NAME/configuration`. */
export interface ShownSetting {
  readonly path: string;
  readonly value?: unknown;
  readonly source: string;
}

export interface ShownPolicy {
  readonly operation: string;
  readonly maxSize: number;
  readonly isMerging: boolean;
  /** Whether all its tasks have one Target, because it groups by no field. */
  readonly hasOneTarget: boolean;
  /** The setting that decides how long tasks wait, if no quiet period ends before. */
  readonly waitSetting: Extract<SettingName, 'maxWait' | 'window'>;
  readonly wait: Millis;
  readonly quietPeriod: Millis;
  /**
   * A configuration for the simulator with the settings that decide how batches fill. The downstream is none that
   * exists, because the simulator never calls it.
   */
  readonly input: object;
}

export const policyFrom = (operation: string, settings: readonly ShownSetting[]): ShownPolicy => {
  const by = new Map(settings.map((each) => [each.path, each]));
  const value = (path: string): unknown => by.get(path)?.value;
  const spanAt = (path: string): Millis => parseDuration(String(value(path))) ?? 0;
  /** The members of a section that are set. Settings with defaults must be left out, because some exclude each other. */
  const set = (section: string, ...always: readonly string[]): object =>
    Object.fromEntries(
      settings
        .filter(({ path, source }) => ['operation', 'configuration'].includes(source) || always.includes(path))
        .filter(({ path }) => path.startsWith(`${section}.`))
        .map((each) => [each.path.slice(section.length + 1), each.value]),
    );
  const waitSetting = typeof value('batch.window') === 'string' ? 'window' : 'maxWait';
  const bypass = value('bypass.bytes');
  return {
    operation,
    maxSize: Number(value('batch.maxSize')),
    isMerging: value('merge.keys') !== undefined,
    hasOneTarget: Array.isArray(value('target')) && (value('target') as unknown[]).length === 0,
    waitSetting,
    wait: spanAt(`batch.${waitSetting}`),
    quietPeriod: spanAt('batch.quietPeriod'),
    input: {
      operations: {
        [operation]: {
          target: value('target'),
          // The default of maxBytes depends on the kind of the downstream.
          batch: set('batch', 'batch.maxBytes'),
          ...(bypass === undefined ? {} : { bypass: { bytes: bypass } }),
          downstream: { kind: 'http', url: 'http://simulated.invalid' },
        },
      },
      register: set('register'),
    },
  };
};
