/**
 * Runs one schedule of deliveries: the real steps on a queue and rows in memory, under a virtual clock. Events are
 * sent, the callback function delivers them, and the sweep runs each minute. The schedule ends when every event is
 * delivered or given up, or at the first broken promise.
 */

import { parseCallback, printCallback } from '../../src/domain/callbacks/callback.ts';
import { attributesOf } from '../../src/domain/callbacks/event.ts';
import { CALLBACKS_AT_ONCE, type Share } from '../../src/domain/callbacks/share.ts';
import { callbackTimeout, callbackVisibility } from '../../src/domain/config/resolved.ts';
import type { Millis } from '../../src/domain/ids.ts';
import type { Rejection } from '../../src/domain/register/rejection.ts';
import { CALLBACK_PATIENCE, CALLBACK_RECEIVES, MESSAGES_AT_ONCE, MINUTE, SECOND } from '../../src/domain/timings.ts';
import { memoryReturns, memoryShares, receivedFrom } from '../../src/memory/callbacks.ts';
import { type QueuedMessage, SimulatedQueue } from '../../src/memory/queue.ts';
import { GivenUp, memoryDeadLetters, memoryQueues, type SimulatedQueues } from '../../src/memory/queues.ts';
import { Remembered } from '../../src/memory/remembered.ts';
import { NotTaken, type Way } from '../../src/ports/callbacks.ts';
import { attempt, beginLife, type Life } from '../../src/processes/process.ts';
import { type Sharing, sharing } from '../../src/steps/deliver/sharing.ts';
import type { Chaos } from '../../src/virtual/chaos.ts';
import { anyHabits } from '../../src/virtual/habits.ts';
import type { Scheduler } from '../../src/virtual/scheduler.ts';
import { brief, START } from '../../src/virtual/trace.ts';
import { demand } from '../../src/virtual/violation.ts';
import { Simulation, type SimulationReport } from '../harness/simulation.ts';
import { checkDeliveriesAtRest, checkGivenUp, Ledger, type Sent } from './judge.ts';
import type { DeliveryScenario, Receiver } from './scenario.ts';
import { type DeliverySteps, STEPS } from './scenario.ts';

export interface DeliveryReport extends SimulationReport {
  readonly ledger: Ledger;
}

/** The longest time until a schedule comes to rest, in ms. A longer schedule is stuck. */
const PATIENCE: Millis = CALLBACK_PATIENCE + 24 * 60 * MINUTE;

/**
 * Runs a schedule. The same scenario gives exactly the same report.
 * @param traced whether to record a line for each event
 */
export const runDeliveries = (scenario: DeliveryScenario, traced = false): Promise<DeliveryReport> =>
  new DeliveryWorld(scenario, traced).run();

/** An instance of the function. It keeps its state of destinations from one invocation to the next. */
interface Instance {
  life: Life | undefined;
  readonly sharing: Sharing;
}

class DeliveryWorld {
  readonly #scenario: DeliveryScenario;
  readonly #steps: DeliverySteps;
  readonly #simulation: Simulation;
  readonly #ledger = new Ledger();
  readonly #givenUp = new GivenUp(() => this.#scheduler.now);
  readonly #rejected: Rejection[] = [];
  readonly #row = new Remembered<'share', Share>(() => this.#scheduler.now);
  readonly #queue: SimulatedQueue;
  readonly #free: Instance[] = [];
  #runs = 0;
  #toSend = 0;

  constructor(scenario: DeliveryScenario, traced: boolean) {
    this.#scenario = scenario;
    this.#steps = { ...STEPS, ...scenario.patched?.steps };
    this.#simulation = new Simulation(scenario, traced);
    this.#queue = this.#callbackQueue();
    const put = this.#givenUp.put.bind(this.#givenUp);
    this.#givenUp.put = (body) => {
      put(body);
      this.#noteGivenUp(body);
    };
  }

  async run(): Promise<DeliveryReport> {
    this.#sendAll();
    this.#sweepEachMinute();
    const simulation = this.#simulation;
    const isOver = () => simulation.isBroken || (this.#toSend === 0 && this.#ledger.open.length === 0);
    const ended = await this.#scheduler.run(isOver, START + PATIENCE);
    if (!simulation.isBroken)
      simulation.checked(() => {
        demand(ended, 'every event is delivered or given up', this.#ledger.open.slice(0, 3));
        const isCalm = Object.values(this.#chaos.counts).every((count) => count === 0);
        checkDeliveriesAtRest(this.#scenario, this.#ledger, isCalm);
      });
    return { ...simulation.report, ledger: this.#ledger };
  }

  get #scheduler(): Scheduler {
    return this.#simulation.scheduler;
  }

  get #chaos(): Chaos {
    return this.#simulation.chaos;
  }

  #sendAll(): void {
    const { receivers, leftBehind, fresh } = this.#scenario;
    const [well] = receivers as readonly [Receiver];
    for (let n = 0; n < leftBehind; n += 1) this.#bury(`old-${n}`, well.name, START - CALLBACK_PATIENCE - MINUTE);
    for (let n = 0; n < fresh; n += 1) this.#bury(`fresh-${n}`, well.name, START - MINUTE);
    for (const { name, events } of receivers)
      for (const [n, after] of events.entries()) {
        this.#toSend += 1;
        // The events of the start are the dead letters, so the other events begin later.
        this.#scheduler.after(after + 1, () => {
          this.#toSend -= 1;
          this.#queue.send(this.#event(`${name}-${n}`, name, this.#scheduler.now));
        });
      }
  }

  #bury(id: string, to: string, about: Millis): void {
    const message = {
      id,
      body: this.#event(id, to, about),
      revivals: 0,
      sentAt: START,
      firstSentAt: START,
      receives: 0,
      deleted: false,
    };
    this.#queue.messages.add(message);
    this.#queue.deadLetters.add(message);
  }

  /** The body of the event's message. */
  #event(id: string, to: string, about: Millis): string {
    this.#ledger.sent.set(id, { id, to, about, at: this.#scheduler.now });
    const attributes = attributesOf({ id, of: 'ship', type: 'groupage.task.succeeded', subject: id, at: about });
    return printCallback({ to, event: JSON.stringify({ ...attributes, data: {} }) });
  }

  #noteGivenUp(body: string): void {
    const { id } = JSON.parse(parseCallback(body).event) as { readonly id: string };
    const sent = this.#ledger.sent.get(id);
    this.#simulation.checked(() => checkGivenUp(this.#scenario, sent, this.#scheduler.now));
    if (sent) sent.givenUpAt = this.#scheduler.now;
  }

  #callbackQueue(): SimulatedQueue {
    const { config } = this.#scenario;
    const timeout = callbackTimeout(config);
    const habits = anyHabits(this.#chaos, 'callback');
    const pollers = { mayTake: (inHand: number) => inHand < CALLBACKS_AT_ONCE, handled: () => {} };
    const queue: SimulatedQueue = new SimulatedQueue(
      this.#chaos,
      {
        name: 'callback',
        visibility: callbackVisibility(config),
        maxReceives: CALLBACK_RECEIVES,
        batchSize: MESSAGES_AT_ONCE.callback,
        consume: (messages) => Promise.race([this.#deliver(queue, messages, timeout), this.#afterTimeout(timeout)]),
      },
      { ...habits, atOnce: (most) => most, pollers },
    );
    return queue;
  }

  /** Lambda ends an invocation that takes too long. The messages of the invocation become visible again. */
  async #afterTimeout(timeout: Millis): Promise<readonly QueuedMessage[]> {
    await this.#scheduler.wait(timeout + SECOND);
    return [];
  }

  async #deliver(
    queue: SimulatedQueue,
    messages: readonly QueuedMessage[],
    timeout: Millis,
  ): Promise<readonly QueuedMessage[]> {
    const { config } = this.#scenario;
    const life = this.#begin('callback', timeout);
    const instance = this.#free.pop() ?? this.#instance();
    instance.life = life;
    const { gate, machine, report } = life;
    const received = receivedFrom(messages);
    const deps = {
      config,
      machine,
      report,
      stack: 'here',
      queues: memoryQueues(this.#queues(queue), this.#rejected, gate, [], this.#givenUp),
      returns: memoryReturns(queue, messages, gate),
      sharing: instance.sharing,
      wayTo: (destination: object) => this.#wayTo(destination, life),
    };
    const work = () => this.#steps.deliverAll(deps, received, () => {});
    const back = await attempt(this.#chaos, life.name, work, received);
    // An invocation that died does not reach this line, so its instance is not used again.
    this.#free.push(instance);
    return messages.filter((message) => !back.some((each) => each.message === message));
  }

  #begin(fn: string, timeout: Millis): Life {
    this.#runs += 1;
    const life = beginLife(this.#chaos, fn, this.#runs, timeout);
    // A failing destination is not a defect of a step, so reports are only traced.
    return { ...life, report: (event) => this.#chaos.trace(() => `${life.name}  · ${brief(event)}`) };
  }

  #instance(): Instance {
    const { patched } = this.#scenario;
    const lifeOf = (): Life => instance.life as Life;
    const shares = (how: Life) => {
      const stored = memoryShares(this.#row, how.gate, how.lag);
      return patched?.shares?.(stored) ?? stored;
    };
    const machine: Life['machine'] = {
      now: () => lifeOf().machine.now(),
      sleep: (span) => lifeOf().machine.sleep(span),
      within: (limit, work) => lifeOf().machine.within(limit, work),
      random: () => lifeOf().machine.random(),
      token: () => lifeOf().machine.token(),
    };
    const ours = sharing(
      { machine, report: (event) => lifeOf().report(event) },
      { read: (how) => shares(lifeOf()).read(how), write: (share) => shares(lifeOf()).write(share) },
    );
    const instance: Instance = { life: undefined, sharing: patched?.sharing?.(ours) ?? ours };
    return instance;
  }

  #queues(callback: SimulatedQueue): SimulatedQueues {
    // This simulation has no other queue.
    return { register: callback, elect: callback, group: callback, batch: callback, callback };
  }

  #wayTo(destination: object, life: Life): Way {
    const { config, receivers } = this.#scenario;
    const name = Object.keys(config.destinations).find((each) => config.destinations[each] === destination);
    const receiver = receivers.find((each) => each.name === name) as Receiver;
    return async ({ text }, signal) => {
      const { id } = JSON.parse(text) as { readonly id: string };
      this.#ledger.called(receiver.name, this.#scheduler.now);
      await this.#answer(receiver, life);
      if (signal?.aborted) throw new NotTaken('no answer: aborted', true);
      const sent = this.#ledger.sent.get(id) as Sent;
      sent.takenAt ??= this.#scheduler.now;
    };
  }

  async #answer({ manner, recoversAt, timeout }: Receiver, { random }: Life): Promise<void> {
    const hasRecovered = recoversAt !== 'never' && this.#scheduler.now >= START + recoversAt;
    switch (hasRecovered ? 'quick' : manner) {
      case 'quick':
        return this.#scheduler.wait(random.int(5, 200));
      case 'slow':
        return this.#scheduler.wait(random.int(1_200, 1_900));
      case 'hangs':
        await this.#scheduler.wait(timeout);
        throw new NotTaken(`no answer within ${timeout} ms`, true);
      case 'unavailable':
        await this.#scheduler.wait(random.int(1, 50));
        throw new NotTaken('answered 503', true);
      case 'refuses':
        await this.#scheduler.wait(random.int(5, 200));
        throw new NotTaken('answered 400', false);
    }
  }

  #sweepEachMinute(): void {
    this.#scheduler.after(MINUTE, () => {
      this.#sweepEachMinute();
      const life = this.#begin('sweep', 50 * SECOND);
      const { gate, machine, report, invocation } = life;
      const queues = this.#queues(this.#queue);
      const deps = {
        config: this.#scenario.config,
        machine,
        report,
        queues: memoryQueues(queues, this.#rejected, gate, [], this.#givenUp),
        deadLetters: memoryDeadLetters(queues, this.#rejected, gate, this.#givenUp),
      };
      const walk = { began: machine.now(), mayGoOn: () => invocation.timeLeft() > 30 * SECOND };
      attempt(this.#chaos, life.name, () => this.#steps.sweepDeadLetters(deps, 'callback', walk), undefined);
    });
  }
}
