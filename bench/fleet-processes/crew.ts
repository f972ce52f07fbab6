/** Worker processes on this machine, and the incidents that the benchmark causes. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { Fleet } from '../../src/domain/fleets/fleet.ts';
import { type FleetName, nodeIdOf, type PartitionId } from '../../src/domain/fleets/ids.ts';
import { fleetsAt } from '../../src/fleet/table-at.ts';
import type { WorkerSetting } from './worker.ts';

export type CrewSetting = Omit<WorkerSetting, 'name'>;

export class Crew {
  setting: CrewSetting;
  readonly #workers = new Map<string, ChildProcess>();
  /** The longest Ttl that any node has published, in ms. */
  ttl = 0;

  constructor(setting: CrewSetting) {
    this.setting = setting;
  }

  get names(): readonly string[] {
    return [...this.#workers.keys()];
  }

  start(name: string): void {
    const args = [JSON.stringify({ ...this.setting, name } satisfies WorkerSetting)];
    const child = fork(join(import.meta.dirname, 'worker.ts'), args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    this.#workers.set(name, child);
  }

  /** From now on, new workers keep their partitions for their next process. Restarts all workers, one after the other. */
  async keepNames(restartWithin: number): Promise<void> {
    if (this.setting.restartWithin === restartWithin) return;
    this.setting = { ...this.setting, restartWithin };
    for (const name of [...this.names].sort()) {
      await this.stop(name);
      this.start(name);
      await this.settled();
    }
  }

  /** SIGKILL: the worker has no time to give anything away. */
  async kill(name: string): Promise<void> {
    const child = this.#take(name);
    child.kill('SIGKILL');
    await once(child, 'exit');
  }

  /** SIGTERM: the worker gives all partitions away. */
  async stop(name: string): Promise<void> {
    const child = this.#take(name);
    child.kill('SIGTERM');
    const [code] = await once(child, 'exit');
    if (code !== 0) throw new Error(`worker ${name} ended with ${code}`);
  }

  /**
   * SIGSTOP and, later, SIGCONT: the worker stands still until other workers have its partitions, and at least for
   * `span`.
   */
  async pause(name: string, span: number): Promise<void> {
    const child = this.#workers.get(name);
    child?.kill('SIGSTOP');
    await setTimeout(span);
    // Other workers wait until the lease ends, which takes longer on a busy machine.
    while ((await this.read()).leases.some(({ owner }) => owner !== undefined && nodeIdOf(owner) === name))
      await this.cycles(1);
    child?.kill('SIGCONT');
  }

  /** Blocks the worker's main thread for a while. */
  async block(name: string, span: number): Promise<void> {
    this.#workers.get(name)?.send({ block: span });
    await setTimeout(span);
  }

  pidOf(name: string): number | undefined {
    return this.#workers.get(name)?.pid;
  }

  /** Waits for some cycles. */
  async cycles(count: number): Promise<void> {
    await setTimeout(count * this.setting.cycle);
  }

  async read(): Promise<Fleet> {
    const fleet = await fleetsAt(this.setting.table).read(this.setting.fleet as FleetName);
    for (const { ttl, evicted } of fleet.nodes) if (!evicted) this.ttl = Math.max(this.ttl, ttl);
    return fleet;
  }

  checkpointOf(partition: PartitionId): Promise<string | undefined> {
    return fleetsAt(this.setting.table).checkpointOf(this.setting.fleet as FleetName, partition);
  }

  /** Waits until each worker has its share and no partition is asked for, in several consecutive reads. */
  async settled(within = 400_000): Promise<Fleet> {
    const until = Date.now() + within;
    for (let looks = 0; ; await setTimeout(this.setting.cycle / 2)) {
      const fleet = await this.read();
      looks = this.#isSettled(fleet) ? looks + 1 : 0;
      if (looks === 4) return fleet;
      if (Date.now() > until) throw new Error(`the fleet did not settle: ${JSON.stringify(fleet)}`);
    }
  }

  async end(): Promise<void> {
    await Promise.all(this.names.map((name) => this.kill(name)));
  }

  #isSettled({ nodes, leases }: Fleet): boolean {
    const members = new Map(nodes.filter(({ evicted }) => !evicted).map(({ key }) => [key, 0]));
    for (const { owner } of leases) if (owner && members.has(owner)) members.set(owner, (members.get(owner) ?? 0) + 1);
    const counts = [...members.values()];
    return (
      counts.reduce((sum, count) => sum + count, 0) === this.setting.partitions &&
      leases.every(({ next }) => next === undefined) &&
      Math.max(...counts) - Math.min(...counts) <= 1 &&
      [...members.keys()].map(nodeIdOf).sort().join() === [...this.names].sort().join()
    );
  }

  #take(name: string): ChildProcess {
    const child = this.#workers.get(name);
    if (!child) throw new Error(`there is no worker ${name}`);
    this.#workers.delete(name);
    return child;
  }
}
