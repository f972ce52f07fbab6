/** How a task ended, as a CloudEvent (1.0, in JSON). Pure. */

import { rawMembers, sendable } from '../../util/json-text.ts';
import type { Millis } from '../ids.ts';
import { runNumber, type Task, type TaskState } from '../tasks/task.ts';

/** How a task that has ended, ended. */
export type Ended = Extract<TaskState, { readonly status: 'succeeded' | 'failed' }>;

/**
 * The event of a task's end: the same bytes whoever makes it, however often, since all of it is stored and no result is
 * ever written twice. Its `source` names the operation alone; see {@link leaving}.
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

/** What every event of ours says of itself, without its data. @param about whose `of` makes the source, until it leaves */
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

/** @param value JSON text, which goes in as it was written. */
const withMember = (object: string, name: string, value: string): string =>
  `${object.slice(0, -1)},${JSON.stringify(name)}:${value}}`;

const sourceOf = (parts: readonly string[]): string => ['/groupage', ...parts.map(encodeURIComponent)].join('/');

/** An event as a destination gets it, and what of it destinations filter by. */
export interface LeavingEvent {
  /** A CloudEvent, as JSON text. */
  readonly text: string;
  readonly source: string;
  readonly type: string;
  readonly time: string;
}

/**
 * An event as it leaves a deployment: its `source` now names the deployment too. Task ids are one deployment's, and what
 * tells events apart is source and id together: two stages may tell one bus of an `order-7` each.
 *
 * @param event one that `eventOf` made
 * @param maxBytes what the destination takes: of a larger event the result is left out
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
