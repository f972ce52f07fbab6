/**
 * `groupage/testing`: one's own operations in a unit test, in virtual time, without engines. See
 * docs/testing-your-operations.md.
 *
 * @module groupage/testing
 */
export type { FlowEvent } from '../batching/events.ts';
export type { Problem } from '../batching/problems.ts';
export { ApiRefused } from '../client/api-answer.ts';
export { type Operations, type TaskToSend, UnsendableTask } from '../client/sent-tasks.ts';
export { createTestbed } from './create-testbed.ts';
export type { LoggedCall } from './downstream.ts';
export { NotSettled, TestbedMisused, type Unsettled, UnusableConfig } from './failures.ts';
export type { Injected, InjectedAnswer, Mishap, Occasions } from './mishaps.ts';
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
