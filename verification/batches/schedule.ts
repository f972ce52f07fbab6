/**
 * One schedule: the real steps on tables and queues in memory, under a virtual clock, with everything that may go
 * wrong going wrong by the seed. Ends when all has come to rest, or at the first broken promise.
 */

import { isHeld } from '../../src/domain/batches/lock.ts';
import type { CallbackMessage } from '../../src/domain/callbacks/callback.ts';
import type { Config } from '../../src/domain/config/resolved.ts';
import type { Millis, OperationName, Target, TaskId } from '../../src/domain/ids.ts';
import { parseRegisterMessage } from '../../src/domain/register/register-message.ts';
import type { Rejection } from '../../src/domain/register/rejection.ts';
import { LEADER_TIMEOUT, MINUTE, type timeForCall } from '../../src/domain/timings.ts';
import type { SimulatedQueue } from '../../src/memory/queue.ts';
import { Remembered } from '../../src/memory/remembered.ts';
import { emptyTables, slotsIn, type Tables } from '../../src/memory/tables.ts';
import type { WorkingQueue } from '../../src/ports/queues.ts';
import { type Steps, simulatedFunctions } from '../../src/processes/functions.ts';
import {
  attempt,
  beginLife,
  type Life,
  type Started,
  startProcess,
  type Throttle,
} from '../../src/processes/process.ts';
import { pricesOf, type Spent } from '../../src/processes/units.ts';
import { handleBatch } from '../../src/steps/call/handle-batch.ts';
import { electLeader } from '../../src/steps/lead/elect-leader.ts';
import { group } from '../../src/steps/lead/group.ts';
import { registerAll } from '../../src/steps/register/register.ts';
import { sweep } from '../../src/steps/repair/sweep.ts';
import { Chaos, type FaultPoint, type Outage } from '../../src/virtual/chaos.ts';
import type { FaultCounts, FaultRates } from '../../src/virtual/faults.ts';
import type { Gate } from '../../src/virtual/gate.ts';
import { Scheduler } from '../../src/virtual/scheduler.ts';
import { brief, START, seconds } from '../../src/virtual/trace.ts';
import { demand, Violation } from '../../src/virtual/violation.ts';
import { habitsOf, momentsOf, slowed, waitFor } from './around.ts';
import { checkAtRest } from './at-rest.ts';
import { type ConfigChange, Configurations } from './configurations.ts';
import { isStep, metered } from './costs.ts';
import type { Evidence } from './evidence.ts';
import { expire } from './expiring.ts';
import { checkCompletion, checkOrder, ITEM_NODES, openFanOut } from './fanned-out.ts';
import { checkForgotten, PATROLLED_AT_ONCE, watchForgotten } from './forgotten.ts';
import { type Seen, watch } from './invariants.ts';
import { livesApart, redrivesIn, type Sent } from './lives.ts';
import { LAST_TRY, type PartitionLimits, Partitions } from './partitions.ts';
import { LONGEST_PAUSE, People } from './people.ts';
import { neverQuiet, type Quiet, quietBetween } from './quiet.ts';
import { checkHoldsSlot } from './rooms.ts';
import { type CallLog, type LoggedCall, simulatedDownstream } from './simulated-downstream.ts';
import { type Stop, stoppedFor } from './stops.ts';
import { notingPatrol, type SeenSweep } from './sweeps.ts';
import { deleteExpired, type Expired, nothingExpired } from './time-to-live.ts';

/** The steps that stand in for ours may be these. */
export interface ScheduleSteps extends Steps {
  readonly sweep: typeof sweep;
  readonly timeForCall: typeof timeForCall;
}

/** A register message that a producer sends, and when, in ms from the start. */
interface Send {
  readonly at: Millis;
  readonly body: string;
  /** By how much later than others SQS delivers it. @default 0 */
  readonly late?: Millis;
}

/** What is sent, and to whom. */
export interface Scenario {
  readonly seed: number;
  readonly config: Config;
  readonly sends: readonly Send[];
  /** Targets that somebody flushes, and when. */
  readonly flushes: readonly { readonly at: Millis; readonly target: Target }[];
  /** Tasks that somebody cancels, and when. */
  readonly cancels?: readonly { readonly at: Millis; readonly id: TaskId }[];
  /** What somebody pauses, an operation or a Target, when, and how long after he resumes it. */
  readonly pauses?: readonly { readonly at: Millis; readonly lasts: Millis; readonly of: OperationName | Target }[];
  /** What somebody changes of the configuration. Sorted by time. Functions that began before go on with what they have. */
  readonly changes?: readonly ConfigChange[];
  /** When somebody redrives what has failed by then, and how often they ask. */
  readonly redrives: readonly { readonly at: Millis; readonly times: number }[];
  /** When somebody sends again what was refused since its operation was not configured, and what SQS kept no longer. */
  readonly sendsAgain?: readonly Millis[];
  /** Functions that stand still for some time. */
  readonly stops?: readonly Stop[];
  /** Whether months pass: rows expire and go, queues lose what is too old, and nothing is said about time. */
  readonly isLong?: boolean;
  /** When the time to live deletes what has ended by then. What is sent after that may use its ids again. */
  readonly expiries?: readonly Millis[];
  /** How many items a fan-out has that is there from the start, for tasks that name its items. */
  readonly items?: number;
  /** When somebody purges the elect, the group and the batch queue: what was in them is for a doctor to find. */
  readonly purges: readonly Millis[];
  readonly faults: FaultRates;
  /** When faults end, in ms from the start: later everything must come to rest. */
  readonly faultsEnd: Millis;
  /** What is down, and when, in ms from the start. */
  readonly outages?: readonly Outage[];
  /** What partitions bear, for as long as the schedule lasts. @default - whatever comes */
  readonly partitions?: PartitionLimits;
  /** Whether the patrol takes part. It would mend what the rules of the flow must not break, so mostly it does not. */
  readonly patrol: boolean;
  /** The faults that happen, instead of some by their rates: to replay a schedule with fewer of them. */
  readonly script?: readonly FaultPoint[];
  /** Which step stands in for ours: to put a known bug back. */
  readonly steps?: Partial<ScheduleSteps>;
  /** Runs of each of the functions that lead Targets, at once and at the most. For schedules in which no function dies. @default - any number */
  readonly functionsAtOnce?: number;
  /** How much longer a request of the sweep takes, at the most. @default 0 */
  readonly slowSweep?: Millis;
  /** Slots of a page. @default - so few that small caps have several pages */
  readonly slotsPerPage?: number;
  /** What it may take beyond the policy if nothing goes wrong. @default - 10 s */
  readonly slack?: Millis;
}

export interface Report {
  readonly violation?: Violation;
  readonly tables: Tables;
  /** What is not in the tables any more. */
  readonly expired: Expired;
  readonly rejected: readonly Rejection[];
  readonly faults: FaultCounts;
  readonly happened: readonly FaultPoint[];
  readonly calls: number;
  /** What the downstream saw; when, counted from {@link START}. */
  readonly log: CallLog;
  /** Virtual time until rest. */
  readonly took: Millis;
  readonly trace: readonly string[];
}

/** Whatever has not come to rest by then never will. */
const PATIENCE: Millis = 48 * 60 * MINUTE;
/** Delays that are up to a second late, and the steps themselves. */
const SLACK: Millis = 10_000;
/** So few that small caps have several pages. */
const SLOTS_PER_PAGE = 2;
/** How often a doctor comes where queues are purged, and when he will have seen whatever hid behind the longest delay. */
const [DOCTOR_COMES, DOCTOR_KNOWS]: readonly [Millis, Millis] = [15 * MINUTE, 120 * MINUTE];

/** Runs a schedule. The same scenario gives the same report, to the letter. @param traced keeps a line per event. */
export const runSchedule = async (scenario: Scenario, traced = false): Promise<Report> => {
  const world = new World(scenario, traced);
  return world.run();
};

class World {
  readonly #scenario: Scenario;
  readonly #scheduler = new Scheduler(START);
  readonly #tables = emptyTables(() => new Remembered(() => this.#scheduler.now));
  readonly #rejected: Rejection[] = [];
  readonly #told: CallbackMessage[] = [];
  readonly #sent: Sent[] = [];
  readonly #receipts = new Map<string, Millis[]>();
  readonly #lost = new Set<string>();
  readonly #expired = nothingExpired();
  readonly #seen: Seen = {
    idle: { longest: 0, longestForPaused: 0, most: 0 },
    settled: [],
    guards: { most: 0 },
    sweeps: [],
    opened: new Map(),
    forgotten: 0,
  };
  readonly #forgottenFor = watchForgotten(this.#tables);
  readonly #people: People;
  readonly #quiet: Quiet;
  readonly #log: CallLog = { calls: [], tried: new Set(), reports: [] };
  readonly #trace: string[] = [];
  readonly #chaos: Chaos;
  readonly #configs: Configurations;
  readonly #queues: Record<WorkingQueue, SimulatedQueue>;
  readonly #partitions: Partitions | undefined;
  readonly #prices = pricesOf({ batches: new Map(), payloads: new Map() });
  readonly #lastEvent: Millis;
  readonly #processes = new Map<string, number>();
  #restingSince: Millis | undefined;
  #violation: Violation | undefined;

  constructor(scenario: Scenario, traced: boolean) {
    this.#scenario = scenario;
    const { sends, redrives, purges, pauses = [], changes = [], faultsEnd, outages = [], stops = [] } = scenario;
    this.#configs = new Configurations(scenario.config, changes);
    // A doctor finds what a purge left once nothing stops him any more.
    const mended = purges.length > 0 ? [...purges, faultsEnd] : [];
    const resumed = pauses.map(({ at, lasts }) => at + lasts);
    this.#lastEvent = Math.max(
      0,
      ...[...sends, ...redrives, ...changes].map(({ at }) => at),
      ...resumed,
      ...mended,
      ...(scenario.sendsAgain ?? []),
      ...(scenario.isLong ? [faultsEnd] : []),
      ...[...outages, ...stops].map(({ until }) => until),
    );
    const quiet = scenario.isLong ? quietBetween(momentsOf(scenario).map((at) => START + at)) : neverQuiet;
    this.#quiet = quiet;
    this.#chaos = new Chaos(
      this.#scheduler,
      {
        ...scenario,
        rates: scenario.faults,
        faultsEnd: START + scenario.faultsEnd,
        ...(scenario.steps?.timeForCall ? { timeForCall: scenario.steps.timeForCall } : {}),
        ...(scenario.isLong ? { isSafe: (now) => quiet(now) > 0 } : {}),
        outages: outages.map(({ from, until, of }) => ({ from: START + from, until: START + until, of })),
      },
      traced ? (line) => this.#trace.push(`${seconds(this.#scheduler.now - START).padStart(10)}  ${line()}`) : () => {},
    );
    this.#partitions = scenario.partitions && new Partitions(scenario.partitions);
    this.#queues = simulatedFunctions(
      this.#chaos,
      { registerAll, electLeader, group, handleBatch, ...scenario.steps },
      scenario.config,
      (name, timeout, messages) => this.#start(name, timeout, messages),
      habitsOf(this.#chaos, scenario, this.#quiet),
    );
    this.#queues.register.onReceive = ({ id }) => this.#receipts.get(id)?.push(this.#scheduler.now);
    this.#queues.register.onLost = ({ body }) => this.#lost.add(body);
    this.#people = new People({
      chaos: this.#chaos,
      tables: this.#tables,
      registerQueue: this.#queues.register,
      start: (name, timeout) => this.#start(name, timeout),
      quiet,
      isOperation: (name) => Object.hasOwn(scenario.config.operations, name),
    });
    this.#chaos.removed = this.#configs.removed;
    const onViolation = (violation: Violation): void => {
      this.#violation ??= violation;
    };
    this.#chaos.onViolation = onViolation;
    const [tables, now, seen] = [this.#tables, () => this.#scheduler.now, this.#seen];
    const { slotsPerPage = SLOTS_PER_PAGE } = scenario;
    watch({ tables, configs: this.#configs, groupQueue: this.#queues.group, now, seen, slotsPerPage }, onViolation);
    tables.watcher.fanOut = (before, { status }) => {
      const { items } = scenario;
      if (items !== undefined && status === 'complete' && before?.status !== status)
        this.#judge(() => checkCompletion(tables, items));
    };
  }

  async run(): Promise<Report> {
    const { items, cancels = [], isLong = false } = this.#scenario;
    if (items !== undefined) await openFanOut(this.#tables, items, this.#start('opener', LEADER_TIMEOUT).deps);
    for (const { at, body, late } of this.#scenario.sends) this.#scheduler.after(at, () => this.#send(body, late));
    for (const { at, target } of this.#scenario.flushes) this.#scheduler.after(at, () => this.#people.flush(target));
    for (const { at, id } of cancels) this.#scheduler.after(at, () => this.#people.cancel(id, isLong));
    for (const { at, lasts, of } of this.#scenario.pauses ?? [])
      this.#scheduler.after(at, () => this.#people.pause(of, at + lasts - this.#sinceStart));
    for (const { at, times } of this.#scenario.redrives) this.#scheduler.after(at, () => this.#people.redrive(times));
    for (const at of this.#scenario.purges)
      this.#scheduler.after(at, () => {
        for (const queue of ['elect', 'group', 'batch'] as const) this.#queues[queue].purge();
      });
    for (const at of this.#scenario.sendsAgain ?? []) this.#scheduler.after(at, () => this.#sendAgain());
    // Whether anybody waits for room that is there changes with the caps.
    for (const { at } of this.#scenario.changes ?? [])
      this.#scheduler.after(at, () => {
        for (const operation of this.#tables.operations.keys()) this.#tables.watcher.waitingTarget?.(operation);
      });
    for (const at of this.#scenario.expiries ?? []) this.#scheduler.after(at, () => this.#expire());
    this.#sweepEachMinute();
    if (this.#scenario.purges.length > 0 || this.#scenario.isLong) this.#visitNowAndThen();
    if (this.#scenario.isLong) this.#deleteOldNowAndThen();
    const ended = await this.#scheduler.run(
      () => this.#violation !== undefined || this.#atRest(),
      START + PATIENCE + (this.#scenario.isLong ? this.#lastEvent : 0),
    );
    if (!this.#violation) this.#checkEnd(ended);
    return {
      ...(this.#violation ? { violation: this.#violation } : {}),
      tables: this.#tables,
      expired: this.#expired,
      rejected: this.#rejected,
      faults: this.#chaos.counts,
      happened: this.#chaos.happened,
      calls: this.#log.calls.length,
      log: this.#log,
      took: this.#scheduler.now - START,
      trace: this.#trace,
    };
  }

  #send(body: string, late = 0): void {
    const receivedAt: Millis[] = [];
    const messageId = this.#queues.register.send(body, 0, { late });
    this.#receipts.set(messageId, receivedAt);
    this.#sent.push({ messageId, body, sentAt: this.#scheduler.now, receivedAt });
  }

  /** A lost message may have left a task that is stored, and waits nowhere: the same message again completes it. */
  #sendAgain(): void {
    this.#people.sendAgain(this.#rejected, (body) => this.#send(body));
    for (const body of [...this.#lost].filter((each) => redrivesIn(this.#scenario.config, [each]).length === 0)) {
      this.#lost.delete(body);
      // The judges ask of the second message what they would ask of the first, unless that began a task of its own.
      if (!this.#beganTask(body))
        this.#sent.splice(0, this.#sent.length, ...this.#sent.filter((each) => each.body !== body));
      this.#send(body);
    }
  }

  #beganTask(body: string): boolean {
    const parsed = parseRegisterMessage(this.#scenario.config, { messageId: '', body });
    const tasks = [...this.#tables.tasks.values(), ...this.#expired.tasks.map(({ row }) => row)];
    return tasks.some(
      ({ id, correlationId }) => parsed.ok && id === parsed.value.id && correlationId === parsed.value.correlationId,
    );
  }

  /** Nothing is in flight, and nothing was for longer than any process is paused. A lock whose guard was purged is held on. */
  #atRest(): boolean {
    const { now } = this.#scheduler;
    // Mostly something is, and then nothing else matters.
    if (!Object.values(this.#queues).every((queue) => queue.isEmpty)) {
      this.#restingSince = undefined;
      return false;
    }
    const isPaused = [...this.#tables.operations.values(), ...this.#tables.locks.values()].some(({ paused }) => paused);
    // Only the sweep frees slots that a crash left taken, and only its patrol those of Targets. Only the sweep sends the event of a fan-out
    // whose end was stored by a function that died. It may itself die in several minutes running.
    const operations = Object.keys(this.#scenario.config.operations) as OperationName[];
    const needsSweep =
      now - START < this.#scenario.faultsEnd &&
      ([...this.#tables.waitingTargets.values()].some((targets) => targets.size > 0) ||
        operations.some((operation) => slotsIn(this.#tables, operation).length > 0) ||
        (this.#scenario.patrol && [...this.#tables.slotPages.values()].some(({ slots }) => slots.length > 0)) ||
        [...this.#tables.fanOuts.values()].some(({ event }) => event !== undefined));
    const isQuiet =
      !isPaused &&
      !needsSweep &&
      now - START > this.#lastEvent &&
      !(this.#queues.group.wasPurged && [...this.#tables.locks.values()].some((lock) => isHeld(lock, now)));
    this.#restingSince = isQuiet ? (this.#restingSince ?? now) : undefined;
    // What a paused process does last is for the next sweep to see.
    const enough =
      this.#scenario.purges.length > 0 || this.#scenario.isLong ? DOCTOR_KNOWS : LONGEST_PAUSE + 2 * MINUTE;
    return this.#restingSince !== undefined && now - this.#restingSince > enough;
  }

  #checkEnd(ended: boolean): void {
    this.#judge(() => {
      const left = Object.entries(this.#queues).map(([name, queue]) => [name, queue.messages.size]);
      demand(ended, 'the run does not end', Object.fromEntries(left));
      const evidence = this.#evidence();
      checkAtRest(this.#scenario.isLong ? livesApart(evidence, this.#expired, this.#sent) : evidence);
    });
  }

  #judge(check: () => void): void {
    try {
      check();
    } catch (cause) {
      if (!(cause instanceof Violation)) throw cause;
      this.#violation ??= cause;
    }
  }

  /** Somebody is told of something. */
  #tell(messages: readonly CallbackMessage[]): number {
    for (const message of messages) this.#judge(() => checkOrder(this.#tables, message));
    return this.#told.push(...messages);
  }

  /** @param messages of a queue, that it was given */
  #start(name: string, timeout: Millis, messages = 0): Started {
    const run = (this.#processes.get(name) ?? 0) + 1;
    this.#processes.set(name, run);
    const config = this.#configs.at(this.#scheduler.now);
    const [chaos, log, jobs] = [this.#chaos, this.#log, this.#queues.batch];
    const onCall = ({ call }: LoggedCall): void => {
      // A handler that was paused may have outlived its batch's slot.
      if (!chaos.paused.has('batch')) this.#judge(() => checkHoldsSlot(this.#tables, config, call));
    };
    const around = {
      config,
      tables: this.#tables,
      queues: this.#queues,
      rejected: this.#rejected,
      told: { push: (...messages: CallbackMessage[]) => this.#tell(messages) },
      downstream: ({ name, random, gate }: Life) =>
        simulatedDownstream({ chaos, name, random, log, gate, config, jobs, onCall }),
      slotsPerPage: this.#scenario.slotsPerPage ?? SLOTS_PER_PAGE,
      ...(this.#partitions ? { throttle: this.#throttle(this.#partitions) } : {}),
      ...(this.#scenario.items === undefined ? {} : { nodeSize: ITEM_NODES }),
    };
    const life = beginLife(chaos, name, run, timeout);
    return startProcess(around, { ...life, gate: this.#gateOf(life, messages) });
  }

  /** A gate that is watched; the sweep's may be slow. */
  #gateOf({ function: name, gate }: Life, messages: number): Gate {
    const { slowSweep = 0, slotsPerPage = SLOTS_PER_PAGE } = this.#scenario;
    if (isStep(name))
      return metered(gate, { of: name, messages }, { configs: this.#configs, slotsPerPage }, (check) =>
        this.#judge(check),
      );
    return name === 'sweep' && slowSweep > 0 ? slowed(gate, this.#chaos, slowSweep) : gate;
  }

  /** Adapters ask again for a while; then their call fails, and did nothing. */
  #throttle(partitions: Partitions): Throttle {
    const spend = async (process: string, spent: readonly Spent[]): Promise<void> => {
      try {
        const wait = partitions.spend(spent, this.#scheduler.now);
        if (wait > 0) this.#chaos.trace(() => `${process}  throttled for ${wait} ms ${brief(spent)}`);
        await this.#scheduler.wait(wait);
      } catch (cause) {
        this.#chaos.trace(() => `${process}  throttled in every round ${brief(spent)}`);
        this.#chaos.hindered.add(process);
        await this.#scheduler.wait(LAST_TRY);
        throw cause;
      }
    };
    return { prices: this.#prices, spend };
  }

  #evidence(): Evidence {
    const { config, patrol, faults, faultsEnd, pauses = [], items, outages = [], isLong = false } = this.#scenario;
    // A client that repeats a request by itself must not be noticed, nor a message that is quicker than its sender.
    const { repeat: _, overtaken: __, ...grave } = this.#chaos.counts;
    const { throttled = 0, gaveUp = 0 } = this.#partitions ?? {};
    const happened = Object.values(grave).some((count) => count > 0) || outages.length > 0 || throttled > 0;
    return {
      config,
      configs: this.#configs,
      tables: this.#tables,
      sent: this.#sent,
      rejected: this.#rejected,
      log: this.#log,
      told: this.#told,
      ...(items === undefined ? {} : { items }),
      seen: this.#seen,
      flushes: this.#people.flushes,
      cancelled: new Set((this.#scenario.cancels ?? []).map(({ id }) => id)),
      redriven: this.#people.redriven,
      lost: this.#lost,
      mayLackOperation: this.#configs.removed.size > 0,
      payloadsGone: new Set(this.#expired.payloads.map(({ row }) => row)),
      outlived: new Set(),
      refusedRedrives: redrivesIn(this.#scenario.config, [...this.#rejected.map(({ body }) => body), ...this.#lost]),
      // In one look; a round over more Targets takes as much as an hour.
      patrolled: patrol && this.#tables.locks.size <= PATROLLED_AT_ONCE,
      mayBeForgotten: patrol && !happened && (faults.skew === 0 || faultsEnd === 0),
      isPurged: this.#wasLost,
      mayStopAmidWork:
        grave.crash + grave.throttle + grave.partial + grave.lostReply + grave.afterwards + grave.hang + gaveUp > 0 ||
        // The platform ended it: throttled requests took as long as it had.
        this.#chaos.late.size + this.#chaos.outOfTime.size > 0 ||
        outages.length > 0,
      died: this.#chaos.died,
      late: this.#chaos.late,
      hindered: this.#chaos.hindered,
      unsent: this.#chaos.unsent,
      received: this.#chaos.received,
      mayOverlap: this.#chaos.paused.has('batch'),
      mayTakeLate: this.#chaos.paused.has('group') || grave.afterwards > 0,
      wasPaused: pauses.length > 0,
      pauseEnds: pauses.map(({ at, lasts }) => START + at + lasts),
      waitFor: waitFor(this.#configs, this.#scenario),
      slack: this.#scenario.slack ?? SLACK,
      skew: faults.skew,
      mendedAt:
        this.#scenario.purges.length > 0 || isLong
          ? undefined
          : START + Math.max(faultsEnd, ...outages.map(({ until }) => until)),
      isCalm: !happened && !isLong && this.#scenario.purges.length === 0 && (faults.skew === 0 || faultsEnd === 0),
    };
  }

  get #sinceStart(): Millis {
    return this.#scheduler.now - START;
  }

  #expire(): void {
    const known = { log: this.#log, seen: this.#seen, told: this.#told, redriven: this.#people.redriven };
    const gone = expire(this.#tables, known, this.#scheduler.now - LONGEST_PAUSE);
    const kept = this.#sent.filter((message) => {
      const parsed = parseRegisterMessage(this.#scenario.config, message);
      return !parsed.ok || !gone.has(parsed.value.id);
    });
    this.#sent.splice(0, this.#sent.length, ...kept);
  }

  #visitNowAndThen(): void {
    // Where months pass he is called once messages were lost.
    if (!this.#scenario.isLong || this.#wasLost) this.#people.callDoctor();
    this.#scheduler.after(Math.max(DOCTOR_COMES, this.#quiet(this.#scheduler.now)), () => this.#visitNowAndThen());
  }

  get #wasLost(): boolean {
    return Object.values(this.#queues).some(({ wasPurged }) => wasPurged);
  }

  /** Rows expire, and queues keep messages no longer. */
  #deleteOldNowAndThen(): void {
    for (const queue of Object.values(this.#queues)) queue.loseOld();
    this.#judge(() => deleteExpired(this.#tables, this.#log, this.#chaos, this.#expired));
    const pause = Math.max(MINUTE, this.#quiet(this.#scheduler.now));
    this.#scheduler.after(this.#chaos.chanceOf(`old rows at ${this.#scheduler.now}`).int(1, pause), () =>
      this.#deleteOldNowAndThen(),
    );
  }

  /** Judged at once: until all is at rest may take hours. @param isStopped whether the elect function or the sweep is stopped */
  #lookForForgotten(isStopped: boolean): void {
    this.#seen.forgotten = Math.max(this.#seen.forgotten, this.#forgottenFor(this.#scheduler.now, isStopped));
    this.#judge(() => checkForgotten(this.#evidence()));
  }

  #sweepEachMinute(): void {
    const { now } = this.#scheduler;
    const { stops = [], patrol } = this.#scenario;
    const standsStill = (of: Stop['of'][number]): boolean => stoppedFor(stops, of, this.#sinceStart) > 0;
    if (patrol) this.#lookForForgotten(standsStill('elect') || standsStill('sweep'));
    if (!standsStill('sweep')) this.#sweep();
    this.#scheduler.after(Math.max(MINUTE, this.#quiet(now)), () => this.#sweepEachMinute());
  }

  #sweep(): void {
    const { name, deps, invocation } = this.#start('sweep', MINUTE);
    const locks = this.#scenario.patrol ? deps.locks : { ...deps.locks, targets: async () => ({ items: [] }) };
    const { sweep: step = sweep } = this.#scenario.steps ?? {};
    const seen: SeenSweep = { hasEnded: false, hasPatrolled: false, slowness: this.#scenario.slowSweep ?? 0 };
    this.#seen.sweeps.push(seen);
    const run = async (): Promise<void> => {
      await step({ ...deps, locks: notingPatrol(locks, seen) }, invocation);
      seen.hasEnded = true;
    };
    attempt(this.#chaos, name, run, undefined);
  }
}
