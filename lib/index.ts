/**
 * The exports for CDK apps: the construct, its dashboard and alarms, and the parts of the construct.
 *
 * @module groupage
 */
import '../src/node/supported.ts';

export { type ConfigInput, defineConfig } from '../src/domain/config/schema/config.ts';
export type { Setting } from '../src/domain/deployed/environment.ts';
export type { MetricName } from '../src/domain/events/metrics.ts';
export type { Api, ApiOption, PrivateApi } from './api.ts';
export type { ApiCallers } from './api-callers.ts';
export type { Right } from './endpoints.ts';
export type { FleetAlarmsProps } from './fleet-alarms.ts';
export { FleetTable, type FleetTableProps } from './fleet-table.ts';
export { Flow, type FlowProps } from './flow.ts';
export { type CallbackTarget, Groupage, type GroupageProps, InvalidProps, type RegisterGrant } from './groupage.ts';
export { Handler, type HandlerProps, type SourceProps } from './handler.ts';
export type { HandlerCode, HandlerName } from './handler-code.ts';
export { InstanceMetrics, type OperationMetricOptions } from './instance-metrics.ts';
export type { NamedProducers } from './named-producers.ts';
export type { Network, NetworkProps } from './network.ts';
export type { OpsDashboard } from './ops/dashboard.ts';
export { Ops, type OpsProps } from './ops/ops.ts';
export type { AlarmId } from './ops/watch.ts';
export type { PublishedNames } from './published-names.ts';
export { GivenUpQueue, RejectedQueue, WorkingQueue, type WorkingQueueProps } from './queues.ts';
export type { DataProps, Surroundings } from './surroundings.ts';
export { Tables } from './tables.ts';
