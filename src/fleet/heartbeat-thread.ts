/**
 * The heartbeat thread of a node: it writes heartbeats, reads the fleet's rows and decides. It keeps running however
 * busy the working thread is. If the working thread shows no sign of life for too long, the heartbeats stop, so that
 * other nodes take over its partitions.
 */
import { setTimeout } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { ulid } from 'ulid';
import type { LifeEvent } from '../domain/fleets/events.ts';
import { type NodeKey, nodeKey } from '../domain/fleets/ids.ts';
import { Belonging, NodeNameTaken } from './belonging.ts';
import { monotonic, Shared, type ThreadData, type ToHeartbeats, type ToWorkers } from './shared.ts';
import { fleetsAt } from './table-at.ts';

const { at, id, setting, measures, shared: buffer } = workerData as ThreadData;
const shared = new Shared(buffer);
const post = (message: ToWorkers): void => parentPort?.postMessage(message);
let me: NodeKey = nodeKey(id, '0');

/** The event with its cause as text. An error of a client may have contents that cannot be sent to another thread. */
const plain = (event: LifeEvent): LifeEvent => ('cause' in event ? { ...event, cause: String(event.cause) } : event);

const belonging = new Belonging(
  {
    fleets: fleetsAt(at),
    clock: {
      now: monotonic,
      wall: Date.now,
      sleep: async (span) => setTimeout(span),
      random: Math.random,
    },
    work: {
      begin: (held, checkpoint) => post({ do: 'begin', held, checkpoint, life: shared.life }),
      drain: (held) => post({ do: 'drain', held }),
      drop: (held, reason) => post({ do: 'drop', held, reason }),
      mayUntil: (deadline) => {
        if (shared.extend(deadline)) post({ do: 'go-on' });
      },
      silentFor: () => monotonic() - shared.signOfLife,
    },
    report: (event) => post({ do: 'tell', event: { ...plain(event), fleet: setting.fleet, node: me } }),
    ...(measures ? { seen: (unworked: number) => post({ do: 'seen', unworked }) } : {}),
    id,
    epoch: () => ulid().toLowerCase(),
    onLife: (key) => {
      me = key;
      shared.nextLife();
    },
  },
  setting,
);

parentPort?.on('message', (message: ToHeartbeats) => {
  if (message.do === 'leave') belonging.leave();
  else void belonging.drained(message.held, message.isReleased);
});
try {
  await belonging.run();
  post({ do: 'over' });
} catch (cause) {
  if (!(cause instanceof NodeNameTaken)) throw cause;
  // The class of an error is lost on the way to another thread.
  post({ do: 'refused', by: cause.other });
}
parentPort?.close();
