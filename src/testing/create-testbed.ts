/** Assembles a testbed. */
import type { Hono } from 'hono';
import { monotonicFactory } from 'ulid';
import { api } from '../api/app.ts';
import type { ApiDeps } from '../api/shared/deps.ts';
import type { Ask } from '../client/ask.ts';
import { pathOf } from '../client/fan-out-calls.ts';
import { fanOutsBy } from '../client/fan-out-client.ts';
import { type ListClient, listsBy } from '../client/list-client.ts';
import { clientBy } from '../client/send-tasks.ts';
import type { Client, Operations, RegisterMessage, TaskToSend } from '../client/sent-tasks.ts';
import type { Duration } from '../domain/config/duration.ts';
import { type Config, operationNamed } from '../domain/config/resolved.ts';
import type { ConfigInput } from '../domain/config/schema/config.ts';
import type { FlowEvent } from '../domain/events/events.ts';
import { operationOf, type Target, type TaskId } from '../domain/ids.ts';
import type { Outcome } from '../domain/register/sending.ts';
import type { Task } from '../domain/tasks/task.ts';
import { seeded, seedOf } from '../virtual/random.ts';
import { Scheduler } from '../virtual/scheduler.ts';
import { apiDepsOf, askIn } from './api.ts';
import { wayTo } from './destinations.ts';
import { bedDownstream, type LoggedCall } from './downstream.ts';
import { Executions } from './execution.ts';
import { NotSettled } from './failures.ts';
import { Flow } from './flow.ts';
import { checkMishap, type Injected, type Mishap, Mishaps, spanOf } from './mishaps.ts';
import { checkOptions, configOf, type TestbedOptions } from './options.ts';
import { Pace } from './pace.ts';
import { unsettledIn, waitsForInput } from './settle.ts';
import type { DeliveredEvent, FanOutView, LimitBucketView, RejectedMessage, Testbed, ToRedrive } from './testbed.ts';
import { type BatchView, batchViewOf, type TaskView, taskViewOf } from './views.ts';

/** The most buckets that the API lists in one answer. */
const BUCKETS_MAX = 100;
/** Default limit of `settle()`, in virtual time. */
const WITHIN: Duration = '1d';

/**
 * Creates a testbed for a configuration.
 *
 * @param config what a `groupage.config.ts` exports
 * @throws UnusableConfig with every problem of the configuration and its path; TestbedMisused for invalid options
 */
export const createTestbed = <Known extends Operations = Record<string, object>>(
  config: ConfigInput,
  options: TestbedOptions<Known> = {},
): Testbed<Known> => new Bed(configOf(config), options);

class Bed<Known extends Operations> implements Testbed<Known> {
  readonly calls: LoggedCall[] = [];
  readonly callbacks: DeliveredEvent[] = [];
  readonly fanOuts: Testbed<Known>['fanOuts'];
  readonly lists: ListClient;
  readonly fetch: typeof fetch;
  readonly #config: Config;
  readonly #pace: Pace;
  readonly #mishaps: Mishaps;
  readonly #chaos: { faultsEnd: number };
  readonly #flow: Flow;
  readonly #newId: () => string;
  readonly #apiDeps: ApiDeps;
  readonly #ask: Ask;
  readonly #client: Client<Known>;
  /** Position of each task in the order in which tasks were sent, by the task's id. */
  readonly #sent = new Map<string, number>();

  constructor(config: Config, options: TestbedOptions<Known>) {
    const { downstreams, destinations, start, seed, rates, isChaotic } = checkOptions(config, options);
    const { calls, callbacks } = this;
    const scheduler = new Scheduler(start);
    const pace = new Pace(scheduler);
    const mishaps = new Mishaps(() => scheduler.now);
    const chaos = { seed, rates, faultsEnd: Number.POSITIVE_INFINITY, isWanted: isChaotic };
    const report = (body: string): void => void this.#flow.queues.batch.send(body);
    const executions = new Executions();
    const own = { config, functions: downstreams, pace, mishaps, calls, executions, report };
    this.#config = config;
    this.#pace = pace;
    this.#mishaps = mishaps;
    this.#chaos = chaos;
    this.#flow = new Flow({
      config,
      pace,
      mishaps,
      chaos,
      downstream: (life) => bedDownstream(own, life),
      wayTo: wayTo({ config, functions: destinations, pace, mishaps, callbacks }),
    });
    const random = seeded(seedOf(seed, 'ids'));
    const ulid = monotonicFactory(() => random.next());
    this.#newId = () => ulid(scheduler.now);
    this.#apiDeps = apiDepsOf(this.#flow, pace, this.#newId);
    const app: Hono = api(this.#apiDeps);
    this.#ask = askIn(app);
    this.fetch = async (input, init) => app.request(input instanceof Request ? input : String(input), init);
    // Send each task in a call of its own, because the iterable that provides the tasks may advance time between two
    // tasks.
    this.#client = clientBy(async (messages) => ({ outcomes: messages.map(this.#register) }), this.#newId, 1);
    const get = async (id: string) => (await this.#ask(pathOf(id), undefined, { method: 'GET' })) as FanOutView;
    this.fanOuts = { ...fanOutsBy(this.#ask, this.#newId), get };
    this.lists = listsBy(this.#ask, this.#newId);
  }

  get now(): Date {
    return new Date(this.#pace.scheduler.now);
  }

  get tasks(): readonly TaskView[] {
    const { tables } = this.#flow;
    // Tasks that one invocation of the register function inserts have no order among themselves.
    const order = ({ id }: Task): number => this.#sent.get(id) ?? Number.POSITIVE_INFINITY;
    return [...tables.tasks.values()]
      .sort((a, b) => a.createdAt - b.createdAt || order(a) - order(b) || 0)
      .map((task) => taskViewOf(tables, task));
  }

  get batches(): readonly BatchView[] {
    return [...this.#flow.tables.batches.values()].map((batch) => batchViewOf(this.#config, batch));
  }

  get rejected(): readonly RejectedMessage[] {
    return this.#flow.rejected.map(({ messageId, body, problems, at }) => ({
      messageId,
      body,
      reasons: problems,
      at: new Date(at),
    }));
  }

  get events(): readonly FlowEvent[] {
    return this.#flow.events;
  }

  task(id: string): TaskView | undefined {
    const { tables } = this.#flow;
    const task = tables.tasks.get(id as TaskId);
    return task && taskViewOf(tables, task);
  }

  send(task: TaskToSend<Known>): Promise<string> {
    return this.#client.send(task);
  }

  sendAll(...given: Parameters<Client<Known>['sendAll']>): Promise<string[]> {
    return this.#client.sendAll(...given);
  }

  sendMessage(body: string): string {
    return this.#flow.queues.register.send(body);
  }

  readonly #register = ({ id, body }: RegisterMessage): Outcome => {
    const messageId = this.sendMessage(body);
    if (!this.#sent.has(id)) this.#sent.set(id, this.#sent.size);
    return { is: 'sent', messageId };
  };

  async advance(span: Duration | number): Promise<void> {
    await this.#pace.run(this.#pace.scheduler.now + spanOf(span));
  }

  async settle({ within = WITHIN }: { readonly within?: Duration | number } = {}): Promise<void> {
    const { scheduler } = this.#pace;
    const limit = scheduler.now + spanOf(within);
    const flow = this.#flow;
    // Whether everything due now has happened, no code of the test is running, and the rest waits for input from the
    // test.
    const isStuck = () =>
      scheduler.next !== scheduler.now && !this.#pace.isAtWork && waitsForInput(flow, scheduler.now);
    const isOver = await this.#pace.run(limit, () => flow.isAtRest || isStuck());
    if (flow.isAtRest) return;
    const why = isOver
      ? 'nothing continues without input from the test'
      : `not everything has ended by ${this.now.toISOString()}`;
    throw new NotSettled(why, await unsettledIn(flow, this.#apiDeps));
  }

  async pause(of: string, reason?: string): Promise<void> {
    await this.#ask(`/operations/${this.#operationOf(of)}/pause`, {
      ...this.#targetIn(of),
      ...(reason ? { reason } : {}),
    });
  }

  async resume(of: string): Promise<void> {
    await this.#ask(`/operations/${this.#operationOf(of)}/resume`, this.#targetIn(of));
  }

  async flush(target: string): Promise<void> {
    await this.#ask('/targets/flush', { target });
  }

  async cancel(id: string): Promise<void> {
    await this.#ask(`/tasks/${encodeURIComponent(id)}`, undefined, { method: 'DELETE' });
  }

  async redrive(which: ToRedrive): Promise<number> {
    const { redriven } = (await this.#ask('/tasks/redrive', which)) as { readonly redriven: number };
    return redriven;
  }

  async complete(batchId: string, report: Parameters<Testbed<Known>['complete']>[1] | object = {}): Promise<void> {
    await this.#ask(`/batches/${encodeURIComponent(batchId)}/complete`, report);
  }

  async limit(name: string): Promise<readonly LimitBucketView[]> {
    const path = `/limits/${encodeURIComponent(name)}?limit=${BUCKETS_MAX}`;
    return ((await this.#ask(path, undefined, { method: 'GET' })) as { readonly buckets: readonly LimitBucketView[] })
      .buckets;
  }

  inject(mishap: Mishap<keyof Known & string>): Injected {
    checkMishap(this.#config, mishap);
    return this.#mishaps.plan(mishap);
  }

  calm(): void {
    this.#mishaps.stop();
    this.#chaos.faultsEnd = this.#pace.scheduler.now;
  }

  #operationOf(of: string): string {
    return encodeURIComponent(operationNamed(this.#config, of) ? of : operationOf(of as Target));
  }

  #targetIn(of: string): { readonly target?: string } {
    return operationNamed(this.#config, of) ? {} : { target: of };
  }
}
