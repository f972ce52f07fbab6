/**
 * `groupage/testing` runs your own operations in a unit test, in virtual time, without database or queue engines. See
 * docs/how-to/test-your-operations.md.
 *
 * @module groupage/testing
 */
import '../node/supported.ts';

export { ApiRefused } from '../client/ask.ts';
export { NotAllSent } from '../client/send-tasks.ts';
export { type Operations, type TaskToSend, UnsendableTask } from '../client/sent-tasks.ts';
export type { BatchStatus, Counts, FinishedStatus } from '../domain/batches/batch.ts';
export type { Finding } from '../domain/batches/findings.ts';
export type { SealReason } from '../domain/batches/policy.ts';
export type { Reason } from '../domain/downstream/downstream.ts';
export type { FlowEvent } from '../domain/events/events.ts';
export type { FanOutId } from '../domain/fan-out-ids.ts';
export type { EndReason, FanOutStatus } from '../domain/fan-outs/fan-out.ts';
export type { BatchId, LimitName, Target, TaskId, Token } from '../domain/ids.ts';
export type { BucketId } from '../domain/limits/bucket-id.ts';
export type { ClaimKey, ListId } from '../domain/lists/ids.ts';
export type { Pause } from '../domain/operations/slots.ts';
export type { Power } from '../domain/producers/rules.ts';
export type { SourceQueue, WorkingQueue } from '../ports/queues.ts';
export type { Problem } from '../util/problems.ts';
export type { FaultRates } from '../virtual/faults.ts';
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
export type {
  DeliveredEvent,
  FanOutView,
  LimitBucketView,
  LimitUse,
  RejectedMessage,
  Testbed,
  ToRedrive,
} from './testbed.ts';
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
  ReceivedRequest,
} from './wire.ts';
