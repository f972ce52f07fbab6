/**
 * For apps of the CDK: the construct, its dashboard and alarms, and the parts that it is made of.
 *
 * @module groupage
 */
export { type ConfigInput, defineConfig } from '../src/config/schema.ts';
export { FleetTable, type FleetTableProps } from './fleet-table.ts';
export { Flow, type FlowProps } from './flow.ts';
export { Groupage, type GroupageProps } from './groupage.ts';
export type { HandlerCode, HandlerName } from './handler-code.ts';
export type { OpsDashboard } from './ops/dashboard.ts';
export { Ops, type OpsProps } from './ops/ops.ts';
export { RejectedQueue, WorkingQueue, type WorkingQueueProps } from './queues.ts';
export { Tables, type TablesProps } from './tables.ts';
