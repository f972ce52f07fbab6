/** Runs one load with one way, from the first message until no message is left. */
import { setTimeout } from 'node:timers/promises';
import type { Millis } from '../../src/domain/ids.ts';
import { parseRegisterMessage } from '../../src/domain/register/register-message.ts';
import { fits } from './least-calls.ts';
import type { Load } from './loads.ts';
import { type Known, type Measures, measuresOf } from './measures.ts';
import { type Sent, sendLoad } from './producer.ts';
import { emptied, type Site, siteOf, type World } from './site.ts';
import type { Variant } from './variants/variant.ts';

export interface Run {
  readonly load: Load;
  readonly variant: Variant;
  readonly measures: Measures;
  /** The tasks that were sent, by id. */
  readonly sent: ReadonlyMap<string, Known>;
  readonly errors: readonly string[];
}

/**
 * The time without a call after which the remaining tasks count as lost, in milliseconds. On a busy machine a function
 * may fail, and its message is delivered again only after the visibility timeout.
 */
const PATIENCE: Millis = 300_000;
const LOOK: Millis = 50;

let runs = 0;

export const runLoad = async (world: World, load: Load, variant: Variant): Promise<Run> => {
  runs += 1;
  const { downstream } = world;
  downstream.calls.length = 0;
  const site = siteOf(world, load, `run${runs}`);
  const running = await variant.start(site);
  try {
    const { sqs } = site.bystander;
    const { sent, requests } = await sendLoad(sqs, running.queueUrl, load, variant.fifo && groupIn(site));
    await arrival(world, sent.length, load.maxWait + PATIENCE);
    if (!(await emptied(sqs, running.queues, load.maxWait + PATIENCE)))
      site.errors.push('messages were left in queues');
    await running.stop();
    const known = knownOf(site, sent);
    const measures = measuresOf({
      limits: load,
      sent: known,
      calls: downstream.calls,
      usage: site.usage,
      producerRequests: requests,
      errors: site.errors.length,
      isFifo: variant.fifo === true,
    });
    return { load, variant, measures, sent: known, errors: site.errors };
  } catch (cause) {
    await running.stop();
    throw cause;
  }
};

/** Resolves when all tasks have arrived, or when no task has arrived for `patience`. */
const arrival = async ({ downstream: { calls } }: World, tasks: number, patience: Millis): Promise<void> => {
  const arrived = new Set<string>();
  let [seen, lastAt] = [0, Date.now()];
  while (arrived.size < tasks && Date.now() - lastAt < patience) {
    for (; seen < calls.length; seen += 1) {
      for (const { id } of calls[seen]?.items ?? []) arrived.add(id);
      lastAt = Date.now();
    }
    await setTimeout(LOOK);
  }
};

/** The Targets of the tasks, computed as in the register function. */
const knownOf = ({ config, operation, load }: Site, sent: readonly Sent[]): ReadonlyMap<string, Known> => {
  const at = new Map(sent.map((task) => [task.id, task.at]));
  const bytes: number[] = [];
  const known = load.arrivals.map(({ payload }, n): [string, Known] => {
    const task = parsed(config, `task-${n}`, load.name, payload);
    bytes.push(task.bytes);
    return [task.id, { target: task.target, at: at.get(task.id) ?? 0 }];
  });
  if (!fits(bytes, operation.batch)) throw new Error(`${load.name}: the fewest calls are a matter of bytes`);
  return new Map(known);
};

const groupIn =
  ({ config, load }: Site) =>
  (payload: string): string =>
    parsed(config, 'any', load.name, payload).target;

const parsed = (config: Site['config'], id: string, operation: string, payload: string) => {
  const body = `{"operation":"${operation}","id":"${id}","payload":${payload}}`;
  const task = parseRegisterMessage(config, { messageId: id, body });
  if (!task.ok) throw new TypeError(`a task of ${operation} is refused: ${JSON.stringify(task.problems)}`);
  return task.value;
};
