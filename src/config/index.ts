/**
 * Configurations: to write one, and to check one in a test or a script.
 *
 * @module groupage/config
 */
export type { OperationName } from '../batching/ids.ts';
export type { BatchPolicy } from '../batching/policy.ts';
export type { Problem } from '../batching/problems.ts';
export type { RetryPolicy } from '../downstream/retry.ts';
export type { Duration } from './duration.ts';
export type {
  Destination,
  DownstreamTarget,
  Headers,
  HttpTarget,
  LambdaTarget,
  QueueTarget,
  SecretRef,
  StateMachineTarget,
} from './endpoints.ts';
export { CONFIG_FILES, findConfig, InvalidConfig, loadConfig } from './load.ts';
export type {
  AlarmPolicy,
  Callbacks,
  CircuitPolicy,
  Concurrency,
  Config,
  FanOutPolicy,
  ListPolicy,
  Operation,
  RegisterPolicy,
} from './resolved.ts';
export { type ConfigInput, defineConfig } from './schema.ts';
