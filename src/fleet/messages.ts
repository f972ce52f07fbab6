/** What the two threads of a node tell each other. */
import type { DropReason, FleetEvent } from '../domain/fleets/events.ts';
import type { NodeId } from '../domain/fleets/ids.ts';
import type { Held } from '../ports/fleets.ts';
import type { Setting } from './member.ts';

/** How the table is reached: plain values, since each thread makes its own client of them. */
export interface TableAt {
  readonly table: string;
  readonly region?: string;
  /** Of an emulator. */
  readonly endpoint?: string;
  /** @default - those that the AWS SDK finds, and renews */
  readonly credentials?: {
    readonly accessKeyId: string;
    readonly secretAccessKey: string;
    readonly sessionToken?: string;
  };
}

export interface ThreadData {
  readonly at: TableAt;
  readonly id: NodeId;
  readonly setting: Setting;
  readonly shared: SharedArrayBuffer;
}

export type ToHeartbeats = { readonly do: 'leave' } | { readonly do: 'drained'; readonly held: Held };

export type ToWorkers =
  | {
      readonly do: 'begin';
      readonly held: Held;
      readonly checkpoint: string | undefined;
      /** Of the node's lives the one that it is held in: the first is 1. */
      readonly life: number;
    }
  | { readonly do: 'drain'; readonly held: Held }
  | { readonly do: 'drop'; readonly held: Held; readonly reason: DropReason }
  /** There is a later deadline. */
  | { readonly do: 'go-on' }
  | { readonly do: 'tell'; readonly event: FleetEvent }
  /** It has left. */
  | { readonly do: 'over' };
