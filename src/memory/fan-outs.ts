/** Fan-outs in memory. */

import { type FanOutId, isNumbered } from '../domain/fan-out-ids.ts';
import type { FanOut, Node, NodeCounts } from '../domain/fan-outs/fan-out.ts';
import { FULL_SIZE, type NodeSize, type Position } from '../domain/fan-outs/tree.ts';
import type { Millis } from '../domain/ids.ts';
import type { Acked, FanOuts, Slots } from '../ports/fan-outs.ts';
import { type Gate, rowByRow, through } from '../virtual/gate.ts';
import { behind, type Lag, upToDate } from './remembered.ts';
import { nodeKey, pageOf, putFanOut, putFanOutNode, type Tables } from './tables.ts';

const tokenKey = (id: FanOutId, token: string): string => `${id}#${token}`;

/** @param size of nodes. With small nodes, a tree of several levels needs only a few items */
export const memoryFanOuts = (tables: Tables, gate: Gate, size: NodeSize = FULL_SIZE, lag: Lag = upToDate): FanOuts => {
  /** A conditional write. `next` returns the header to write, or undefined if the condition fails. */
  const write = (
    call: string,
    id: FanOutId,
    next: (fanOut: FanOut) => FanOut | undefined,
  ): Promise<{ readonly isWritten: boolean; readonly stored: FanOut | undefined }> =>
    through(gate, call, () => {
      const before = tables.fanOuts.get(id);
      const after = before && next(before);
      if (after) putFanOut(tables, after);
      return { isWritten: after !== undefined, stored: after ?? before };
    });
  const nodeAt = (id: FanOutId, position: Position): Node | undefined => tables.fanOutNodes.get(nodeKey(id, position));
  return {
    ...size,
    open: (fanOut, checkAt) =>
      through(gate, 'fanOuts.open', () => {
        const stored = tables.fanOuts.get(fanOut.id);
        if (stored) return { isNew: false, stored };
        const opened: FanOut = { ...fanOut, ...NEW, touchedAt: fanOut.createdAt, checkAt };
        putFanOut(tables, opened);
        return { isNew: true, stored: opened };
      }),
    read: (id) => through(gate, 'fanOuts.read', () => tables.fanOuts.get(id)),
    itemKeys: (ids) =>
      through(
        gate,
        'fanOuts.itemKeys',
        () => new Map(ids.flatMap((id) => (tables.fanOuts.has(id) ? [[id, tables.fanOuts.get(id) as FanOut]] : []))),
      ),
    reservation: (id, token) =>
      through(gate, 'fanOuts.reservation', () => tables.reservations.get(tokenKey(id, token))),
    reserve: (id, token, { first, count, openedAt, groups, at }) =>
      through(gate, 'fanOuts.reserve', () => {
        const fanOut = tables.fanOuts.get(id);
        if (fanOut?.status !== 'open' || fanOut.groups !== first || fanOut.createdAt !== openedAt) return false;
        if (tables.reservations.get(tokenKey(id, token))?.openedAt === openedAt) return false;
        tables.reservations.set(tokenKey(id, token), { first, count, openedAt });
        const { total, version } = fanOut;
        const more = { groups: first + groups, total: total + count, touchedAt: at, version: version + 1 };
        putFanOut(tables, { ...fanOut, ...more });
        return true;
      }),
    putGroups: async (id, groups, at) => {
      await rowByRow(
        gate,
        'fanOuts.putGroups',
        groups,
        ({ n }) => String(n),
        ({ n, size }) => {
          if (!nodeAt(id, { level: 0, n })) putFanOutNode(tables, id, { level: 0, n }, emptyNode(size, at));
        },
      );
    },
    node: (id, position) => through(gate, 'fanOuts.node', () => nodeAt(id, position)),
    counts: (id, positions) =>
      gate(
        'fanOuts.counts',
        positions.map((position) => () => {
          const node = nodeAt(id, position);
          return node && countsOf(node);
        }),
      ),
    ack: (id, position, slots) =>
      through(gate, 'fanOuts.ack', (): Acked => {
        const node = nodeAt(id, position);
        const isFree = node && [...slots.slots.keys()].every((slot) => node.slots[slot] === null);
        if (!isFree) return { isWritten: false, node };
        const after = withSlots(node, slots);
        putFanOutNode(tables, id, position, after);
        return { isWritten: true, node: position.level === 0 && isNumbered(id) ? after : countsOf(after) };
      }),
    correct: (id, group, indexes, at) =>
      through(gate, 'fanOuts.correct', (): Acked => {
        const position = { level: 0, n: group };
        const node = nodeAt(id, position);
        if (!node || !indexes.every((index) => node.slots[index] === false)) return { isWritten: false, node };
        const slots = node.slots.map((slot, index) => (indexes.includes(index) ? true : slot));
        const after = { ...node, slots, failed: node.failed - indexes.length, seenAt: at };
        putFanOutNode(tables, id, position, after);
        return { isWritten: true, node: countsOf(after) };
      }),
    noteCorrection: async (id) => {
      await write('fanOuts.noteCorrection', id, (fanOut) => ({ ...fanOut, corrected: true }));
    },
    putNode: (id, position, slots) =>
      through(gate, 'fanOuts.putNode', () => {
        if (nodeAt(id, position)) return false;
        putFanOutNode(tables, id, position, withSlots(emptyNode(size.width, slots.at), slots));
        return true;
      }),
    seal: async (id, at) => {
      const { stored } = await write('fanOuts.seal', id, (fanOut) =>
        fanOut.status === 'open'
          ? { ...fanOut, status: 'sealed', touchedAt: at, version: fanOut.version + 1 }
          : undefined,
      );
      return stored;
    },
    noteFails: async (id, fails, most) => {
      const { stored } = await write('fanOuts.noteFails', id, (fanOut) =>
        fanOut.fails.length <= most ? { ...fanOut, fails: [...new Set([...fanOut.fails, ...fails])] } : undefined,
      );
      return stored;
    },
    forgetFails: async (id, fails) => {
      const { stored } = await write('fanOuts.forgetFails', id, (fanOut) => ({
        ...fanOut,
        fails: fanOut.fails.filter((each) => !fails.includes(each)),
      }));
      return stored;
    },
    noteFailedGroup: async (id, seen, failedGroup) => {
      const { isWritten } = await write('fanOuts.noteFailedGroup', id, (fanOut) =>
        fanOut.failedGroup === seen ? { ...fanOut, failedGroup } : undefined,
      );
      return isWritten;
    },
    note: async (id, what, checkAt) => {
      const { stored } = await write('fanOuts.note', id, (fanOut) => {
        const { notice } = what;
        const unsent = [...(fanOut.unsent ?? []), notice];
        if (notice === 'all-succeeded')
          return fanOut.status === 'complete' && fanOut.allSucceededAt === undefined
            ? { ...fanOut, allSucceededAt: what.at, unsent, checkAt }
            : undefined;
        const isNoted = fanOut.firstFailure !== undefined || fanOut.ended !== undefined;
        return isNoted ? undefined : { ...fanOut, firstFailure: what.firstFailure, unsent, checkAt };
      });
      return stored;
    },
    noticeSent: async (id, notice) => {
      await write('fanOuts.noticeSent', id, ({ unsent = [], ...fanOut }) => {
        const left = unsent.filter((each) => each !== notice);
        return left.length === 0 ? fanOut : { ...fanOut, unsent: left };
      });
    },
    beginSum: async (id, seen, at) => {
      const { isWritten } = await write('fanOuts.beginSum', id, (fanOut) =>
        fanOut.summedAt === seen ? { ...fanOut, summedAt: at } : undefined,
      );
      return isWritten;
    },
    end: async (id, { status, from, version, at, because, failed, pending, event, checkAt }) => {
      const { isWritten } = await write('fanOuts.end', id, ({ walk: _, ...fanOut }) =>
        from.includes(fanOut.status) && !fanOut.event && (version === undefined || fanOut.version === version)
          ? {
              ...fanOut,
              status,
              ended: { at, because, failed, ...(pending === undefined ? {} : { pending }) },
              version: fanOut.version + 1,
              checkAt,
              ...(event ? { event } : {}),
            }
          : undefined,
      );
      return isWritten;
    },
    forgetEvent: async (id, checkAt) => {
      await write('fanOuts.forgetEvent', id, ({ event, ...fanOut }) => (event ? { ...fanOut, checkAt } : undefined));
    },
    due: (now, limit) =>
      through(gate, 'fanOuts.due', () =>
        [...behind(tables.fanOuts, lag()).values()]
          .filter(({ checkAt }) => checkAt !== undefined && checkAt <= now)
          .sort((a, b) => (a.checkAt ?? 0) - (b.checkAt ?? 0))
          .slice(0, limit)
          .map(({ id }) => id),
      ),
    page: (limit, cursor) =>
      through(gate, 'fanOuts.page', () =>
        pageOf(
          lookedAfter(tables, lag()).filter(({ id }) => !isNumbered(id)),
          limit,
          cursor,
        ),
      ),
    checkAgain: async (id, seen, { checkAt, walk }) => {
      const { isWritten } = await write('fanOuts.checkAgain', id, ({ walk: _, ...fanOut }) =>
        fanOut.checkAt === seen ? { ...fanOut, checkAt, ...(walk ? { walk } : {}) } : undefined,
      );
      return isWritten;
    },
    removeNodes: async (id, positions) => {
      const keys = positions.map((position) => nodeKey(id, position));
      await rowByRow(gate, 'fanOuts.removeNodes', keys, String, (key) => tables.fanOutNodes.delete(key));
    },
    // The adapter sets a time to live here. Rows in memory never expire.
    bury: async (id) => {
      await write('fanOuts.bury', id, ({ checkAt: _, walk: __, ...fanOut }) => fanOut);
    },
  };
};

/** Fan-outs in the order in which the patrol checks them. */
export const lookedAfter = (tables: Tables, lag: Millis): FanOut[] =>
  [...behind(tables.fanOuts, lag).values()]
    .filter(({ checkAt }) => checkAt !== undefined)
    .sort((a, b) => (a.checkAt ?? 0) - (b.checkAt ?? 0));

const NEW = { status: 'open', groups: 0, total: 0, version: 0, fails: [] } as const;

const emptyNode = (size: number, seenAt: number): Node => ({
  slots: Array.from({ length: size }, () => null),
  left: size,
  failed: 0,
  seenAt,
});

const withSlots = (node: Node, { slots, failed, at }: Slots): Node => ({
  slots: node.slots.map((slot, index) => slots.get(index) ?? slot),
  left: node.left - slots.size,
  failed: node.failed + failed,
  seenAt: at,
});

const countsOf = ({ left, failed, seenAt }: Node): NodeCounts => ({ left, failed, seenAt });
