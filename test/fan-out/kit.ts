/** Fan-outs with small nodes, so that a tree of several levels needs few items, with their stores and queues. */

import type { Config, FanOutPolicy } from '../../src/domain/config/resolved.ts';
import { type FanOutId, fanOutId, type ItemId, itemIdOf, parseItemId } from '../../src/domain/fan-out-ids.ts';
import type { FanOut, ItemOutcome, NewFanOut } from '../../src/domain/fan-outs/fan-out.ts';
import type { Token } from '../../src/domain/ids.ts';
import { memoryFanOuts } from '../../src/memory/fan-outs.ts';
import { emptyTables } from '../../src/memory/tables.ts';
import type { FanOuts } from '../../src/ports/fan-outs.ts';
import { type AckAnswer, ackItems } from '../../src/steps/fan-outs/ack-items.ts';
import { type Added, addItems } from '../../src/steps/fan-outs/add-items.ts';
import { openGate } from '../../src/virtual/gate.ts';
import { aConfig, NOW } from '../factories/factories.ts';
import { memoryStores } from '../ports/stores.ts';
import { type StepKit, stepKit } from '../steps/step-kit.ts';

const WIDTH = 3;
export const FAN_OUT = fanOutId('f') as FanOutId;
export const token = (text: string): Token => text as Token;

export interface FanOutKit extends StepKit {
  /** The store, whose calls a test may replace. */
  fanOuts: FanOuts;
  open(fields?: Partial<NewFanOut>): Promise<FanOut>;
  add(count: number, name?: string): Promise<Added>;
  /** @param items `group:index` of the one fan-out */
  ack(items: readonly string[], outcome?: ItemOutcome): Promise<AckAnswer>;
  read(): Promise<FanOut>;
  /** The CloudEvents that were sent. */
  sentCallbacks(): readonly { readonly id: string; readonly type: string; readonly data: Record<string, unknown> }[];
}

/** All items of the added groups. */
export const itemsOf = (added: Added): string[] => {
  if (added.kind !== 'added') throw new Error(`not added: ${JSON.stringify(added)}`);
  return added.groups.flatMap(({ n, size }) => Array.from({ length: size }, (_, index) => `${n}:${index}`));
};

/** A configuration that sends the end of every fan-out to `ops`. */
export const reportingOps = (policy: Partial<FanOutPolicy> = {}): Config => {
  const config = aConfig();
  return {
    ...config,
    destinations: { ops: { kind: 'queue', name: 'ops' } },
    fanOuts: { ...config.fanOuts, callback: 'ops', ...policy },
  };
};

export const fanOutKit = (config: Config = reportingOps(), width = WIDTH): FanOutKit => {
  const tables = emptyTables();
  const fanOuts = memoryFanOuts(tables, openGate, { width, acksAtOnce: 2 });
  let adds = 0;
  const kit: FanOutKit = Object.assign(stepKit({ ...memoryStores(tables), fanOuts }, config), {
    fanOuts,
    open: async (fields: Partial<NewFanOut> = {}) => {
      const opened = await kit.fanOuts.open({ id: FAN_OUT, createdAt: NOW, ...fields }, NOW + 120_000);
      return opened.stored;
    },
    add: (count: number, name?: string) => {
      adds += 1;
      return addItems(kit, FAN_OUT, count, token(name ?? `add-${adds}`));
    },
    ack: (items: readonly string[], outcome: ItemOutcome = 'succeeded') =>
      ackItems(
        kit,
        items.map((each) => {
          const item = parseItemId(`${FAN_OUT}:${each}`);
          if (!item) throw new Error(`no item: ${each}`);
          return { item, outcome };
        }),
      ),
    read: async () => {
      const fanOut = await kit.fanOuts.read(FAN_OUT);
      if (!fanOut) throw new Error('the fan-out does not exist');
      return fanOut;
    },
    sentCallbacks: () => kit.sent.callbacks.map(({ event }) => JSON.parse(event)),
  });
  return kit;
};

export const itemId = (text: string): ItemId => {
  const [group, index] = text.split(':').map(Number);
  return itemIdOf({ fanOut: FAN_OUT, group: group as number, index: index as number });
};
