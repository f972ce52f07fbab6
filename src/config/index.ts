/** The package's entry for configurations: to write one, and to check one in a test or a script. */
export type { Problem } from '../batching/problems.ts';
export type { Duration } from './duration.ts';
export { CONFIG_FILES, findConfig, InvalidConfig, loadConfig } from './load.ts';
export type { Config, Operation } from './resolved.ts';
export { type ConfigInput, defineConfig } from './schema.ts';
