/** Assigns to each queue of a schedule the step that handles its messages. */

import { parseBatch, parseElect, parseGroup } from '../domain/batches/messages.ts';
import { type Config, handlerTimeout, type RegisterPolicy, registerVisibility } from '../domain/config/resolved.ts';
import type { Millis } from '../domain/ids.ts';
import { LOCAL_SENDER } from '../domain/producers/sender.ts';
import { LEADER_TIMEOUT, LEADER_VISIBILITY, MAX_RECEIVES, MESSAGES_AT_ONCE } from '../domain/timings.ts';
import { type QueuedMessage, SimulatedQueue } from '../memory/queue.ts';
import type { Delivery, Invocation } from '../ports/machine.ts';
import type { WorkingQueue } from '../ports/queues.ts';
import type { handleBatch } from '../steps/call/handle-batch.ts';
import type { Deps } from '../steps/deps.ts';
import type { electLeader } from '../steps/lead/elect-leader.ts';
import type { group } from '../steps/lead/group.ts';
import type { registerAll } from '../steps/register/register.ts';
import type { Chaos } from '../virtual/chaos.ts';
import { anyHabits, type Habits } from '../virtual/habits.ts';
import { seconds } from '../virtual/trace.ts';
import { attempt, failed, type Started } from './process.ts';

/** The steps that a schedule runs. */
export interface Steps {
  readonly registerAll: typeof registerAll;
  readonly electLeader: typeof electLeader;
  readonly group: typeof group;
  readonly handleBatch: typeof handleBatch;
}

/** Handles messages. @returns the messages that were handled and may be deleted. */
type Handle = (
  deps: Deps,
  messages: readonly QueuedMessage[],
  invocation: Invocation,
) => Promise<readonly QueuedMessage[]>;

/**
 * The queues with their functions.
 * @param start starts a process for each invocation of a function.
 * @param habitsOf returns the habits of a queue.
 */
export const simulatedFunctions = (
  chaos: Chaos,
  steps: Steps,
  config: Config,
  start: (name: WorkingQueue, timeout: Millis, messages: number) => Started,
  habitsOf: (queue: WorkingQueue) => Habits = (queue) => anyHabits(chaos, queue),
): Record<WorkingQueue, SimulatedQueue> => {
  const handlerTime = handlerTimeout(config);
  const queue = (
    name: WorkingQueue,
    timeout: Millis,
    visibility: Millis,
    handle: Handle,
    { maxMessages, maxWait }: RegisterPolicy = { maxMessages: MESSAGES_AT_ONCE[name], maxWait: 0 },
  ): SimulatedQueue => {
    const consume = async (messages: readonly QueuedMessage[]): Promise<readonly QueuedMessage[]> => {
      const { name: process, deps, invocation } = start(name, timeout, messages.length);
      chaos.trace(() => {
        const off = deps.machine.now() - chaos.scheduler.now;
        const clock = off === 0 ? '' : `(its clock is ${seconds(Math.abs(off))} s ${off > 0 ? 'fast' : 'slow'})  `;
        return `${process}  ← ${clock}${messages.map(({ body, id }) => `${id} ${body}`).join('  ')}`;
      });
      if (name === 'batch')
        chaos.received.set(
          process,
          messages.map(({ body }) => body),
        );
      return attempt(chaos, process, () => handle(deps, messages, invocation), []);
    };
    const options = {
      name,
      visibility,
      maxReceives: MAX_RECEIVES,
      batchSize: maxMessages,
      window: maxWait,
      consume,
    };
    return new SimulatedQueue(chaos, options, habitsOf(name));
  };

  const each =
    (step: (deps: Deps, body: string, delivery: Delivery) => Promise<void>): Handle =>
    async (deps, messages, invocation) => {
      const one = async (message: QueuedMessage): Promise<QueuedMessage[]> => {
        await step(deps, message.body, {
          ...invocation,
          messageId: message.id,
          deliveries: message.receives + message.revivals,
        });
        return [message];
      };
      const done = messages.map((message) => attempt(chaos, message.id, () => one(message), []));
      return (await Promise.all(done)).flat();
    };

  const register: Handle = async (deps, messages) => {
    const sent = messages.map(({ id, body, firstSentAt, sender = LOCAL_SENDER }) => ({
      messageId: id,
      body,
      sentAt: firstSentAt,
      sender,
    }));
    const comingBack = await steps.registerAll(deps, sent, ({ messageId }, cause) => failed(chaos, messageId, cause));
    return messages.filter(({ id }) => !comingBack.some(({ messageId }) => messageId === id));
  };

  return {
    register: queue('register', LEADER_TIMEOUT, registerVisibility(config), register, config.register),
    elect: queue(
      'elect',
      LEADER_TIMEOUT,
      LEADER_VISIBILITY,
      each((deps, body) => steps.electLeader(deps, parseElect(body))),
    ),
    group: queue(
      'group',
      LEADER_TIMEOUT,
      LEADER_VISIBILITY,
      each((deps, body, delivery) => steps.group(deps, parseGroup(body), delivery)),
    ),
    batch: queue(
      'batch',
      handlerTime,
      6 * handlerTime,
      each((deps, body, delivery) => steps.handleBatch(deps, parseBatch(body), delivery)),
    ),
  };
};
