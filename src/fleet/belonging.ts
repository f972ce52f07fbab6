/** P9. A node belongs to a fleet, life after life: who was taken for dead comes back, later and later. */

import { type NodeId, type NodeKey, nodeKey } from '../domain/fleets/ids.ts';
import { awayFor, FORGIVEN } from '../domain/fleets/timings.ts';
import type { Millis } from '../domain/ids.ts';
import type { Held } from '../ports/fleets.ts';
import { Life } from './life.ts';
import { attempt, type MemberDeps, type Setting, Sleeper } from './member.ts';

export interface BelongDeps extends MemberDeps {
  readonly id: NodeId;
  /** A name for a life, which no other one has. */
  readonly epoch: () => string;
  /** Is told whose events and partitions the next ones are. */
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

  /** Resolves once it has left. */
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
      if ((await this.#life.run()) === 'left') return;
      // Nobody waits for one that is about to go anyway.
      if (this.#isLeaving) return;
      const now = clock.now();
      evictions = [...evictions.filter((at) => now - at < FORGIVEN), now];
      const away = awayFor(evictions.length, cycle);
      report({ event: 'evicted', away });
      // Nobody needs its row any more. If it stays it goes by its time to live.
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
  async drained(held: Held): Promise<void> {
    await this.#life?.drained(held);
  }

  /** Who is blocked gets nothing. */
  async #untilResponsive(): Promise<void> {
    const { work } = this.#deps;
    const { cycle, maxBlocked } = this.#setting;
    while (!this.#isLeaving && work.silentFor() > maxBlocked) await this.#sleeper.sleep(cycle);
  }
}
