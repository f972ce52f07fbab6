/** P1, P7. The heartbeats of one life of a node, and the deadline until which they allow it to work. */

import type { Node } from '../domain/fleets/fleet.ts';
import type { NodeKey } from '../domain/fleets/ids.ts';
import { type Beat, deadlineOf, type Gap, recentGaps, ttlOf } from '../domain/fleets/timings.ts';
import type { Millis } from '../domain/ids.ts';
import { attempt, FAILED, type MemberDeps, type Setting } from './member.ts';

/** `unknown`: the call failed, but the heartbeat may have been written, and other nodes may have read it. */
export type BeatOutcome = 'alive' | 'evicted' | 'unknown';

interface Sent extends Beat {
  /** Number of the heartbeat in the node's row. */
  readonly beat: number;
}

export class Heartbeat {
  readonly #key: NodeKey;
  readonly #deps: MemberDeps;
  readonly #setting: Setting;
  #beats = 0;
  /** Time of the first attempt to join. Other nodes may have read this node's row, even if the call failed here. */
  #joining: Millis | undefined;
  #written: Beat | undefined;
  #writtenAt: Millis = 0;
  #unknown: readonly Sent[] = [];
  #gaps: readonly Gap[] = [];

  constructor(key: NodeKey, deps: MemberDeps, setting: Setting) {
    this.#key = key;
    this.#deps = deps;
    this.#setting = setting;
  }

  /**
   * Writes the first heartbeat. Until this write is confirmed, the node owns nothing, and no deadline depends on the
   * heartbeat.
   */
  async join(): Promise<BeatOutcome> {
    const { fleets, clock } = this.#deps;
    const { fleet, cycle, restartWithin } = this.#setting;
    this.#joining ??= clock.now();
    const beat = { sentAt: this.#joining, ttl: ttlOf([], cycle) };
    const at = clock.wall();
    const node: Node = {
      ...{ key: this.#key, beat: 0, ttl: beat.ttl, startedAt: at, beatAt: at, readsApart: true },
      ...(restartWithin > 0 ? { restartWithin } : {}),
    };
    if ((await attempt(this.#deps, 'join', () => fleets.join(fleet, node))) === FAILED) return 'unknown';
    this.#wrote(beat);
    return 'alive';
  }

  async beat(isLeaving: boolean): Promise<BeatOutcome> {
    const { fleets, clock } = this.#deps;
    const { fleet, cycle } = this.#setting;
    const sentAt = clock.now();
    this.#gaps = recentGaps(this.#gaps, sentAt);
    this.#beats += 1;
    const beat = { sentAt, ttl: ttlOf(this.#gaps, cycle), beat: this.#beats };
    this.#unknown = [...this.#unknown, beat];
    this.#extend();
    const row = { key: this.#key, beat: this.#beats, ttl: beat.ttl, beatAt: clock.wall() };
    const isAlive = await attempt(this.#deps, 'beat', () =>
      fleets.beat(fleet, isLeaving ? { ...row, leaving: true } : row),
    );
    if (isAlive === FAILED) return 'unknown';
    if (isAlive) this.#wrote(beat);
    return isAlive ? 'alive' : 'evicted';
  }

  /**
   * P13. Writes the last heartbeat of this life: the work has ended, and the partitions wait for `restartWithin`. An
   * earlier heartbeat that is still under way does not overwrite it, because its number is smaller.
   */
  async rest(): Promise<BeatOutcome> {
    const { fleets, clock } = this.#deps;
    const { fleet, restartWithin } = this.#setting;
    this.#beats += 1;
    const row = {
      key: this.#key,
      beat: this.#beats,
      ttl: restartWithin,
      beatAt: clock.wall(),
      restarting: true,
    } as const;
    const isAlive = await attempt(this.#deps, 'beat', () => fleets.beat(fleet, row));
    if (isAlive === FAILED) return 'unknown';
    return isAlive ? 'alive' : 'evicted';
  }

  /**
   * Called when a read of the fleet shows heartbeat `beat` of this node: the heartbeat was written, even if its call
   * failed.
   */
  seen(beat: number): void {
    const written = this.#unknown.find((each) => each.beat === beat);
    if (written) this.#wrote(written);
  }

  #wrote(beat: Beat & { readonly beat?: number }): void {
    const now = this.#deps.clock.now();
    if (this.#written) this.#gaps = [...this.#gaps, { endedAt: now, span: now - this.#writtenAt }];
    this.#written = beat;
    this.#writtenAt = now;
    // Keep the heartbeats that were sent later, because they may still have been written.
    this.#unknown = this.#unknown.filter((each) => each.beat > (beat.beat ?? 0));
    this.#extend();
  }

  #extend(): void {
    if (this.#written) this.#deps.work.mayUntil(deadlineOf(this.#written, this.#unknown));
  }
}
