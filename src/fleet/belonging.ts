/**
 * P9. Keeps a node in its fleet over several lives. After each eviction the node starts a new life, after a longer
 * pause each time.
 */

import { type NodeId, type NodeKey, nodeKey } from '../domain/fleets/ids.ts';
import { awayFor, FORGIVEN } from '../domain/fleets/timings.ts';
import type { Millis } from '../domain/ids.ts';
import type { Held } from '../ports/fleets.ts';
import { Life } from './life.ts';
import { attempt, type MemberDeps, type Setting, Sleeper } from './member.ts';

/**
 * P14. Another process of the fleet has the name of this one, and is alive. With `restartWithin`, a name belongs to one
 * process at a time.
 */
export class NodeNameTaken extends Error {
  override readonly name = 'NodeNameTaken';
  readonly node: string;
  /** The node that has the name. */
  readonly other: Rival | undefined;
  constructor(fleet: string, node: string, other?: Rival) {
    const since = other ? ` (${other.key}, started at ${new Date(other.startedAt).toISOString()})` : '';
    super(
      `the node name ${node} of fleet ${fleet} belongs to another live process${since}. This process has left the fleet; it worked on no partition. With restartWithin, each process needs its own \`node\` name. To replace the other process, stop it first, then start this one again`,
    );
    this.node = node;
    this.other = other && { key: other.key, startedAt: other.startedAt };
  }
}

/** Another live process with the name of this node. */
export interface Rival {
  readonly key: NodeKey;
  /** When it started, in milliseconds since the epoch. */
  readonly startedAt: number;
}

export interface BelongDeps extends MemberDeps {
  readonly id: NodeId;
  /** Returns an identifier that no other life of the node has. */
  readonly epoch: () => string;
  /** Called with the key of each new life, which owns the events and partitions from then on. */
  readonly onLife: (key: NodeKey) => void;
}

export class Belonging {
  readonly #deps: BelongDeps;
  readonly #setting: Setting;
  readonly #sleeper: Sleeper;
  #life: Life | undefined;
  #isLeaving = false;

  constructor(deps: BelongDeps, setting: Setting) {
    this.#deps = deps;
    this.#setting = setting;
    this.#sleeper = new Sleeper(deps.clock);
  }

  /**
   * Resolves when the node has left the fleet.
   *
   * @throws NodeNameTaken
   */
  async run(): Promise<void> {
    const { clock, id, epoch, onLife, fleets, report } = this.#deps;
    const { fleet, cycle } = this.#setting;
    let evictions: readonly Millis[] = [];
    while (!this.#isLeaving) {
      await this.#untilResponsive();
      if (this.#isLeaving) return;
      const key = nodeKey(id, epoch());
      onLife(key);
      this.#life = new Life(key, this.#deps, this.#setting);
      const end = await this.#life.run();
      if (end === 'left') return;
      if (end === 'refused') {
        await attempt(this.#deps, 'leave', () => fleets.leave(fleet, key));
        throw new NodeNameTaken(fleet, id, this.#life.rival);
      }
      // A node that is leaving anyway needs no pause.
      if (this.#isLeaving) return;
      const now = clock.now();
      evictions = [...evictions.filter((at) => now - at < FORGIVEN), now];
      const away = awayFor(evictions.length, cycle);
      report({ event: 'evicted', away });
      // Delete the row of the evicted life, because it has no further use. If the call fails, DynamoDB deletes the row
      // when its time to live ends.
      void attempt(this.#deps, 'leave', () => fleets.leave(fleet, key));
      await this.#sleeper.sleep(away);
    }
  }

  leave(): void {
    this.#isLeaving = true;
    this.#life?.leave();
    this.#sleeper.wakeAll();
  }

  /** See {@link Life.drained}. */
  async drained(held: Held, isReleased = false): Promise<void> {
    await this.#life?.drained(held, isReleased);
  }

  /** Waits while the working thread is blocked, because a blocked node gets no partitions. */
  async #untilResponsive(): Promise<void> {
    const { work } = this.#deps;
    const { cycle, maxBlocked } = this.#setting;
    while (!this.#isLeaving && work.silentFor() > maxBlocked) await this.#sleeper.sleep(cycle);
  }
}
