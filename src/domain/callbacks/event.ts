/** The event that reports how a task ended: a CloudEvent (1.0, in JSON). Pure. */

import { rawMembers, sendable } from '../../util/json-text.ts';
import type { Millis } from '../ids.ts';
import { runNumber, type Task, type TaskState } from '../tasks/task.ts';

/** The state of a task that has ended. */
export type Ended = Extract<TaskState, { readonly status: 'succeeded' | 'failed' }>;

/**
 * The event of a task's end. Every function that makes the event gets the same bytes, because its data is stored and a
 * result is written only once. Its `source` names only the operation until {@link leaving} adds the deployment.
 */
export const eventOf = (task: Task, state: Ended): string => {
  const attributes = attributesOf({
    id: `${task.id}.${task.run}`,
    of: task.operation,
    type: `groupage.task.${state.status}`,
    subject: task.id,
    at: state.finishedAt,
  });
  return withMember(JSON.stringify(attributes), 'data', dataOf(task, state));
};

/**
 * The attributes that every event has, without its data. @param about `of` names the operation or other source of the
 * event
 */
export const attributesOf = (about: {
  readonly id: string;
  readonly of: string;
  readonly type: string;
  readonly subject: string;
  readonly at: Millis;
}) => ({
  specversion: '1.0',
  id: about.id,
  source: sourceOf([about.of]),
  type: about.type,
  subject: about.subject,
  time: new Date(about.at).toISOString(),
  datacontenttype: 'application/json',
});

const dataOf = (task: Task, state: Ended): string => {
  const fields = {
    id: task.id,
    operation: task.operation,
    target: task.target,
    status: state.status,
    run: runNumber(task),
    ...(state.batchId === undefined ? {} : { batchId: state.batchId }),
    attempts: state.attempts,
    ...(task.correlationId === undefined ? {} : { correlationId: task.correlationId }),
    ...(state.status === 'failed' ? { error: state.error } : endOf(state)),
  };
  const text = JSON.stringify(fields);
  return state.status === 'succeeded' && state.result !== undefined ? withMember(text, 'result', state.result) : text;
};

const endOf = ({ supersededBy, resultOmitted }: Ended & { readonly status: 'succeeded' }) => ({
  ...(supersededBy === undefined ? {} : { supersededBy }),
  ...(resultOmitted === undefined ? {} : { resultOmitted: { bytes: resultOmitted } }),
});

/** Adds a member to a JSON object. @param value JSON text, which is inserted unchanged */
const withMember = (object: string, name: string, value: string): string =>
  `${object.slice(0, -1)},${JSON.stringify(name)}:${value}}`;

const sourceOf = (parts: readonly string[]): string => ['/groupage', ...parts.map(encodeURIComponent)].join('/');

/** An event as a destination receives it, with the attributes that destinations filter by. */
export interface LeavingEvent {
  /** A CloudEvent, as JSON text. */
  readonly text: string;
  readonly source: string;
  readonly type: string;
  readonly time: string;
}

/**
 * An event as it leaves the deployment. Its `source` now names the deployment too. Consumers identify an event by
 * source and id, but task ids are unique only within a deployment: two stages may send an event for a task `order-7` to
 * one bus.
 *
 * @param event an event of `eventOf`
 * @param maxBytes the largest event that the destination accepts. A larger event is sent without its result
 */
export const leaving = (event: string, stack: string, maxBytes: number): LeavingEvent => {
  const members = new Map(rawMembers(sendable(event)));
  const { source: within, type, time } = JSON.parse(event) as Record<'source' | 'type' | 'time', string>;
  const source = `${sourceOf([stack])}${within.slice(sourceOf([]).length)}`;
  members.set('source', JSON.stringify(source));
  const whole = printed(members);
  return { text: Buffer.byteLength(whole) <= maxBytes ? whole : withoutResult(members), source, type, time };
};

const withoutResult = (members: ReadonlyMap<string, string>): string => {
  const { result, ...data } = Object.fromEntries(rawMembers(members.get('data') ?? '{}'));
  const omitted = result === undefined ? {} : { resultOmitted: `{"bytes":${Buffer.byteLength(result)}}` };
  return printed(new Map([...members, ['data', printed(Object.entries({ ...data, ...omitted }))]]));
};

const printed = (members: Iterable<readonly [string, string]>): string =>
  `{${[...members].map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`;
