/**
 * `groupage/testing`: one's own operations in a unit test, in virtual time, without engines. See
 * docs/testing-your-operations.md.
 *
 * @module groupage/testing
 */
export type { BatchStatus, Counts, FinishedStatus } from '../batching/batch.ts';
export type { FlowEvent } from '../batching/events.ts';
export type { Finding } from '../batching/findings.ts';
export type { BatchId, Target, Token } from '../batching/ids.ts';
export type { SealReason } from '../batching/policy.ts';
export type { Problem } from '../batching/problems.ts';
export type { Pause } from '../batching/slots.ts';
export { ApiRefused } from '../client/api-answer.ts';
export { NotAllSent } from '../client/not-all-sent.ts';
export { type Operations, type TaskToSend, UnsendableTask } from '../client/sent-tasks.ts';
export type { Reason } from '../downstream/downstream.ts';
export type { EndReason } from '../fan-out/fan-out.ts';
export type { FanOutId } from '../fan-out/ids.ts';
export type { SourceQueue, WorkingQueue } from '../ports.ts';
export type { FaultRates } from '../simulation/faults.ts';
export { createTestbed } from './create-testbed.ts';
export type { LoggedCall } from './downstream.ts';
export { NotSettled, TestbedMisused, type Unsettled, UnusableConfig } from './failures.ts';
export type { During, Injected, InjectedAnswer, Mishap, Moment, Occasions } from './mishaps.ts';
export {
  type ChaosRates,
  type CloudEvent,
  type DestinationFunction,
  ROUGH,
  type TestbedOptions,
} from './options.ts';
export type { DeliveredEvent, FanOutView, RejectedMessage, Testbed, ToRedrive } from './testbed.ts';
export type { BatchView, TaskView } from './views.ts';
export type {
  AtWork,
  DownstreamAnswer,
  DownstreamFunction,
  HttpReply,
  InputResult,
  ItemError,
  ItemResult,
  ReceivedCall,
  ReceivedItem,
} from './wire.ts';
