/** The listener of events that `runFleet` uses by default: it writes problems to standard error, as JSON lines. */
import { inspect } from 'node:util';
import type { FleetEvent } from '../domain/fleets/events.ts';

type Name = FleetEvent['event'];
type Texts = { readonly [Each in Name]?: (event: Extract<FleetEvent, { readonly event: Each }>) => string | undefined };

const seconds = (span: number): string => `${Math.round(span / 1_000)} s`;

/** What a problem means, and what to do. Events without a text are no problems. */
const TEXTS: Texts = {
  evicted: ({ away }) =>
    `this node wrote no heartbeat in time, so others have its partitions; it joins again after ${seconds(away)}`,
  'work-failed': ({ partition, pause }) =>
    `onPartition threw for partition ${partition}; it is called again after ${seconds(pause)}`,
  'store-failed': ({ call }) => `the call ${call} to the fleet's table failed and is repeated`,
  blocked: ({ span }) =>
    `the event loop has been blocked for ${seconds(span)}, so the heartbeats stop and others take the partitions; move long computations into a worker thread`,
  finished: ({ partition, whenFinished }) =>
    whenFinished === 'keep'
      ? `onPartition returned by itself for partition ${partition}: this node keeps the partition without work; set whenFinished to release the partition or to call onPartition again`
      : undefined,
  'still-running': ({ partition, span }) =>
    `onPartition for partition ${partition} has not returned ${seconds(span)} after the partition was lost, so two nodes may work on it; pass partition.lost to its calls, and return when it aborts`,
};

export const reportTrouble = (event: FleetEvent): void => {
  const text = (TEXTS[event.event] as ((event: FleetEvent) => string | undefined) | undefined)?.(event);
  if (text !== undefined) console.error(JSON.stringify({ ...event, text }, withCauses));
};

/** Any value can be thrown, including values that JSON cannot express. */
const withCauses = (name: string, value: unknown): unknown => {
  if (value instanceof Error) return value.stack ?? String(value);
  return name === 'cause' && typeof value !== 'string' ? inspect(value) : value;
};
