/**
 * Configurations: to write one, and to check one in a test or a script.
 *
 * @module groupage/config
 */
import '../node/supported.ts';

export type { Duration } from '../domain/config/duration.ts';
export type {
  Destination,
  DownstreamTarget,
  Headers,
  HttpTarget,
  LambdaTarget,
  QueueTarget,
  SecretRef,
  StateMachineTarget,
} from '../domain/config/endpoints.ts';
export type { Limit } from '../domain/config/limits.ts';
export type { BatchPolicy, CircuitPolicy, Concurrency, RetryPolicy } from '../domain/config/policies.ts';
export type {
  AlarmPolicy,
  Callbacks,
  Config,
  FanOutPolicy,
  ListPolicy,
  Operation,
  RegisterPolicy,
} from '../domain/config/resolved.ts';
export { type ConfigInput, defineConfig } from '../domain/config/schema/config.ts';
export type { SettingSource, Sources } from '../domain/config/settings.ts';
export type { LimitName, OperationName } from '../domain/ids.ts';
export type { ProducerRules, RulesMode } from '../domain/producers/rules.ts';
export type { Problem } from '../util/problems.ts';
export { CONFIG_FILES, findConfig, InvalidConfig, loadConfig } from './load.ts';
export type { PlacedProblem } from './places.ts';
export type { Position } from './position.ts';
