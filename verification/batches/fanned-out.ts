/**
 * Schedules whose tasks are items of one fan-out, and the promises about them. The judges compare the items with how
 * the tasks ended, without using the steps that ack items.
 */

import type { CallbackMessage } from '../../src/domain/callbacks/callback.ts';
import type { Config } from '../../src/domain/config/resolved.ts';
import { type FanOutId, type Item, itemIdOf, parseItemId } from '../../src/domain/fan-out-ids.ts';
import type { NodeSize } from '../../src/domain/fan-outs/tree.ts';
import { DEFAULT_RULES } from '../../src/domain/producers/rules.ts';
import { parseRegisterMessage } from '../../src/domain/register/register-message.ts';
import { type Outcome, runNumber, type Task } from '../../src/domain/tasks/task.ts';
import { memoryFanOuts } from '../../src/memory/fan-outs.ts';
import { nodeKey, type Tables } from '../../src/memory/tables.ts';
import type { FanOutDeps } from '../../src/steps/deps.ts';
import { addItems } from '../../src/steps/fan-outs/add-items.ts';
import { seal } from '../../src/steps/fan-outs/complete.ts';
import { isObject, parseJson } from '../../src/util/json-text.ts';
import { openGate } from '../../src/virtual/gate.ts';
import { seeded, seedOf } from '../../src/virtual/random.ts';
import { demand } from '../../src/virtual/violation.ts';
import { withOperations } from './configurations.ts';
import type { Evidence } from './evidence.ts';
import type { Scenario } from './scenario.ts';

const FAN_OUT = 'f' as FanOutId;
/**
 * Small nodes, so that a few dozen tasks make a tree of several levels, and acking the items of a batch needs several
 * writes.
 */
export const ITEM_NODES: NodeSize = { width: 3, acksAtOnce: 2 };

/** The schedule with most of its tasks as items of one fan-out. Some tasks name items that do not exist. */
export const fanningOut = (scenario: Scenario): Scenario => {
  const random = seeded(seedOf(scenario.seed, 'items of a fan-out'));
  let items = 0;
  const another = (): string | undefined => {
    if (random.chance(0.1)) return random.pick([undefined, 'gone:0:0', `${FAN_OUT}:0:${ITEM_NODES.width}`]);
    items += 1;
    return itemIdOf(itemAt(items - 1));
  };
  const named = new Map<unknown, string | undefined>();
  const sends = scenario.sends.map(({ at, body }) => {
    const json = parseJson(body);
    const isTask = parseRegisterMessage(scenario.config, { messageId: 'm', body }).ok;
    if (!isTask || !json.ok || !isObject(json.value)) return { at, body };
    const { id } = json.value;
    // All messages with the same task id name the same item, because they are the same task.
    const fanOutItem = named.has(id) ? named.get(id) : another();
    if (id !== undefined) named.set(id, fanOutItem);
    return { at, body: JSON.stringify({ ...json.value, fanOutItem }) };
  });
  // Items have no tokens here: their checks make no writes.
  const open = withOperations(scenario.config, () => ({ producers: { ...DEFAULT_RULES, acknowledge: 'any' } }));
  const config: Config = { ...open, fanOuts: { ...open.fanOuts, callback: 'ops' } };
  return items === 0 ? scenario : { ...scenario, config, sends, items };
};

const itemAt = (n: number): Item => ({
  fanOut: FAN_OUT,
  group: Math.floor(n / ITEM_NODES.width),
  index: n % ITEM_NODES.width,
});

/** Opens and seals the fan-out before the first of its tasks is sent. */
export const openFanOut = async (
  tables: Tables,
  items: number,
  deps: Pick<FanOutDeps, 'config' | 'machine'>,
): Promise<void> => {
  const fanOuts = memoryFanOuts(tables, openGate, ITEM_NODES);
  const createdAt = deps.machine.now();
  await fanOuts.open({ id: FAN_OUT, createdAt }, createdAt);
  const around: FanOutDeps = { ...deps, fanOuts, queues: { callbacks: async () => {} }, report: () => {} };
  await addItems(around, FAN_OUT, items, deps.machine.token());
  await seal(around, FAN_OUT);
};

const slotOf = (tables: Tables, { fanOut, group, index }: Item): boolean | null | undefined =>
  tables.fanOutNodes.get(nodeKey(fanOut, { level: 0, n: group }))?.slots[index];

const allSlots = (tables: Tables, items: number): readonly (boolean | null | undefined)[] =>
  Array.from({ length: items }, (_, n) => slotOf(tables, itemAt(n)));

/** How a task's first run ended, unless a later run has succeeded. If the task has a later run, the first has failed. */
const itemEnd = (task: Task): Outcome['status'] | undefined => {
  const { status } = task.state;
  if (runNumber(task) > 1 && status !== 'succeeded') return 'failed';
  return status === 'succeeded' || status === 'failed' ? status : undefined;
};

/** Checks the counts of a fan-out when the fan-out completes. @throws Violation */
export const checkCompletion = (tables: Tables, items: number): void => {
  const slots = allSlots(tables, items);
  demand(
    !slots.includes(null) && !slots.includes(undefined),
    'a fan-out completes only after all its items are acked',
    slots,
  );
  for (const task of tables.tasks.values())
    demand(
      task.fanOutItem === undefined || slotOfTask(tables, task) === undefined || itemEnd(task) !== undefined,
      'a fan-out completes only after the tasks of its items have ended',
      task,
    );
};

/** The slot of a task's item; undefined if the task has no item, or names an item that does not exist. */
const slotOfTask = (tables: Tables, { fanOutItem }: Task): boolean | null | undefined => {
  const item = parseItemId(fanOutItem);
  return item && slotOf(tables, item);
};

/**
 * Checks each callback of a task at the moment when it is sent: the task's item must already be acked.
 * @throws Violation
 */
export const checkOrder = (tables: Tables, { event }: CallbackMessage): void => {
  const { subject } = JSON.parse(event) as { readonly subject: string };
  const task = [...tables.tasks.values()].find(({ id }) => id === subject);
  const slot = task && slotOfTask(tables, task);
  demand(slot !== null, "a task's callback is sent only after its item is acked", { event, task });
};

/** @throws Violation */
export const checkFannedOut = ({ tables, sentCallbacks, items = 0 }: Evidence): void => {
  if (items === 0) return;
  const done = new Set<string>();
  for (const task of tables.tasks.values()) {
    const slot = slotOfTask(tables, task);
    if (slot === undefined) continue;
    done.add(String(task.fanOutItem));
    demand(slot === (itemEnd(task) === 'succeeded'), 'an item succeeds if a run of its task has succeeded', {
      task,
      slot,
    });
  }
  const slots = allSlots(tables, items);
  const acked = slots.filter((slot) => slot !== null).length;
  demand(acked === done.size, 'only items that are tasks are acked', { slots, done: [...done] });
  const fanOut = tables.fanOuts.get(FAN_OUT);
  const isComplete = fanOut?.status === 'complete';
  demand(isComplete === (acked === items), 'a fan-out is complete if all its items are acked', { fanOut, slots });
  const failed = slots.filter((slot) => slot === false).length;
  // Redrives may have corrected items after the fan-out was complete.
  demand(!isComplete || (fanOut?.ended?.failed ?? -1) >= failed, 'a complete fan-out counts its failed items', {
    fanOut,
    slots,
  });
  const sent = sentCallbacks.map(({ event }) => JSON.parse(event) as { id: string; type: string }).filter(isOfFanOut);
  const ends = sent.filter(({ type }) => type === 'groupage.fan-out.completed');
  const isClean = isComplete && failed === 0 && (fanOut?.ended?.failed ?? 0) > 0;
  demand(
    new Set(sent.filter((each) => !ends.includes(each)).map(({ id }) => id)).size === (isClean ? 1 : 0),
    'the redrive of the last failed item is reported under one event id',
    { sent, fanOut },
  );
  demand(
    ends.every(({ id }) => id === `${FAN_OUT}.${fanOut?.createdAt}.completed`) && ends.length > 0 === isComplete,
    "a fan-out's end is reported under one event id",
    { ends, fanOut },
  );
};

/** Whether the event is about a fan-out (and not about a task). */
export const isOfFanOut = ({ type }: { readonly type: string }): boolean => type.startsWith('groupage.fan-out.');
