/**
 * One schedule: the real steps on tables and queues in memory, under a virtual clock, with everything that may go
 * wrong going wrong by the seed. Ends when all has come to rest, or at the first broken promise.
 */
import { cancel } from '../batching/cancel.ts';
import { electLeader } from '../batching/elect-leader.ts';
import { flush } from '../batching/flush.ts';
import { group } from '../batching/group.ts';
import { handleBatch } from '../batching/handle-batch.ts';
import type { Millis, OperationName, Target, TaskId } from '../batching/ids.ts';
import { isHeld } from '../batching/lock.ts';
import { printRedrive } from '../batching/redrive.ts';
import { registerAll } from '../batching/register.ts';
import type { RegisterMessage } from '../batching/register-message.ts';
import type { Rejection } from '../batching/rejection.ts';
import { askResumeOperation, askResumeTarget, pauseOperation, pauseTarget } from '../batching/resume.ts';
import { sweep } from '../batching/sweep.ts';
import { LEADER_TIMEOUT, MINUTE } from '../batching/timings.ts';
import type { CallbackMessage } from '../callbacks/callback.ts';
import type { Config } from '../config/resolved.ts';
import type { TaskRun, WorkingQueue } from '../ports.ts';
import { checkAtRest } from './at-rest.ts';
import { Chaos, type FaultPoint } from './chaos.ts';
import { doctor } from './doctor.ts';
import type { Evidence } from './evidence.ts';
import { checkCompletion, checkOrder, ITEM_NODES, openFanOut } from './fanned-out.ts';
import type { FaultCounts, FaultRates } from './faults.ts';
import { type Steps, simulatedFunctions } from './functions.ts';
import { type Seen, watch } from './invariants.ts';
import { attempt, beginLife, type Life, type Started, startProcess } from './process.ts';
import type { SimulatedQueue } from './queue.ts';
import { Remembered } from './remembered.ts';
import { Scheduler } from './scheduler.ts';
import { type CallLog, simulatedDownstream } from './simulated-downstream.ts';
import { emptyTables, type Tables } from './tables.ts';
import { START, seconds } from './trace.ts';
import { demand, Violation } from './violation.ts';

/** What is sent, and to whom. */
export interface Scenario {
  readonly seed: number;
  readonly config: Config;
  /** Register bodies and when they are sent, in ms from the start. */
  readonly sends: readonly { readonly at: Millis; readonly body: string }[];
  /** Targets that somebody flushes, and when. */
  readonly flushes: readonly { readonly at: Millis; readonly target: Target }[];
  /** Tasks that somebody cancels, and when. */
  readonly cancels?: readonly { readonly at: Millis; readonly id: TaskId }[];
  /** What somebody pauses, an operation or a Target, when, and how long after he resumes it. */
  readonly pauses?: readonly { readonly at: Millis; readonly lasts: Millis; readonly of: OperationName | Target }[];
  /** When somebody redrives what has failed by then, and how often they ask. */
  readonly redrives: readonly { readonly at: Millis; readonly times: number }[];
  /** How many items a fan-out has that is there from the start, for tasks that name its items. */
  readonly items?: number;
  /** When somebody purges the elect, the group and the batch queue: what was in them is for a doctor to find. */
  readonly purges: readonly Millis[];
  readonly faults: FaultRates;
  /** When faults end, in ms from the start: later everything must come to rest. */
  readonly faultsEnd: Millis;
  /** Whether the patrol takes part. It would mend what the rules of the flow must not break, so mostly it does not. */
  readonly patrol: boolean;
  /** The faults that happen, instead of some by their rates: to replay a schedule with fewer of them. */
  readonly script?: readonly FaultPoint[];
  /** Which step stands in for ours: to put a known bug back. */
  readonly steps?: Partial<Steps>;
}

export interface Report {
  readonly violation?: Violation;
  readonly tables: Tables;
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
const LONGEST_PAUSE: Millis = 5 * MINUTE;
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
  readonly #sent: RegisterMessage[] = [];
  readonly #redriven: TaskRun[] = [];
  readonly #seen: Seen = { idle: { longest: 0 }, settled: [] };
  readonly #flushes: { target: Target; at: Millis }[] = [];
  readonly #log: CallLog = { calls: [], tried: new Set(), reports: [] };
  readonly #trace: string[] = [];
  readonly #chaos: Chaos;
  readonly #queues: Record<WorkingQueue, SimulatedQueue>;
  readonly #lastEvent: Millis;
  readonly #processes = new Map<string, number>();
  #restingSince: Millis | undefined;
  #violation: Violation | undefined;

  constructor(scenario: Scenario, traced: boolean) {
    this.#scenario = scenario;
    const { sends, redrives, purges, pauses = [], faultsEnd } = scenario;
    // A doctor finds what a purge left once nothing stops him any more.
    const mended = purges.length > 0 ? [...purges, faultsEnd] : [];
    const resumed = pauses.map(({ at, lasts }) => at + lasts);
    this.#lastEvent = Math.max(0, ...[...sends, ...redrives].map(({ at }) => at), ...resumed, ...mended);
    this.#chaos = new Chaos(
      this.#scheduler,
      { ...scenario, rates: scenario.faults, faultsEnd: START + scenario.faultsEnd },
      traced ? (line) => this.#trace.push(`${seconds(this.#scheduler.now - START).padStart(10)}  ${line()}`) : () => {},
    );
    this.#queues = simulatedFunctions(
      this.#chaos,
      { registerAll, electLeader, group, handleBatch, ...scenario.steps },
      scenario.config,
      (name, timeout) => this.#start(name, timeout),
    );
    const onViolation = (violation: Violation): void => {
      this.#violation ??= violation;
    };
    this.#chaos.onViolation = onViolation;
    const [tables, now, seen] = [this.#tables, () => this.#scheduler.now, this.#seen];
    watch({ tables, config: scenario.config, groupQueue: this.#queues.group, now, seen }, onViolation);
    tables.watcher.fanOut = (before, { status }) => {
      const { items } = scenario;
      if (items !== undefined && status === 'complete' && before?.status !== status)
        this.#judge(() => checkCompletion(tables, items));
    };
  }

  async run(): Promise<Report> {
    const { items } = this.#scenario;
    if (items !== undefined) await openFanOut(this.#tables, items, this.#start('opener', LEADER_TIMEOUT).deps);
    for (const { at, body } of this.#scenario.sends)
      this.#scheduler.after(at, () => this.#sent.push({ messageId: this.#queues.register.send(body), body }));
    for (const { at, target } of this.#scenario.flushes) this.#scheduler.after(at, () => this.#flush(target));
    for (const { at, id } of this.#scenario.cancels ?? []) this.#scheduler.after(at, () => this.#cancel(id));
    for (const { at, lasts, of } of this.#scenario.pauses ?? [])
      this.#scheduler.after(at, () => this.#pause(of, at + lasts - this.#sinceStart));
    for (const { at, times } of this.#scenario.redrives) this.#scheduler.after(at, () => this.#redrive(times));
    for (const at of this.#scenario.purges)
      this.#scheduler.after(at, () => {
        for (const queue of ['elect', 'group', 'batch'] as const) this.#queues[queue].purge();
      });
    this.#sweepEachMinute();
    if (this.#scenario.purges.length > 0) this.#visitNowAndThen();
    const ended = await this.#scheduler.run(() => this.#violation !== undefined || this.#atRest(), START + PATIENCE);
    if (!this.#violation) this.#checkEnd(ended);
    return {
      ...(this.#violation ? { violation: this.#violation } : {}),
      tables: this.#tables,
      rejected: this.#rejected,
      faults: this.#chaos.counts,
      happened: this.#chaos.happened,
      calls: this.#log.calls.length,
      log: this.#log,
      took: this.#scheduler.now - START,
      trace: this.#trace,
    };
  }

  /** Nothing is in flight, and nothing was for longer than any process is paused. A lock whose guard was purged is held on. */
  #atRest(): boolean {
    const { now } = this.#scheduler;
    const isPaused = [...this.#tables.operations.values(), ...this.#tables.locks.values()].some(({ paused }) => paused);
    // Room that a crash left taken is given back by the sweep alone, and it may die in several minutes running.
    const mayGetRoom =
      now - START < this.#scenario.faultsEnd &&
      [...this.#tables.waitingTargets.values()].some((targets) => targets.size > 0);
    const isQuiet =
      !isPaused &&
      !mayGetRoom &&
      now - START > this.#lastEvent &&
      Object.values(this.#queues).every((queue) => queue.isEmpty) &&
      !(this.#queues.group.wasPurged && [...this.#tables.locks.values()].some((lock) => isHeld(lock, now)));
    this.#restingSince = isQuiet ? (this.#restingSince ?? now) : undefined;
    const enough = this.#scenario.purges.length > 0 ? DOCTOR_KNOWS : LONGEST_PAUSE;
    return this.#restingSince !== undefined && now - this.#restingSince > enough;
  }

  #checkEnd(ended: boolean): void {
    this.#judge(() => {
      const left = Object.entries(this.#queues).map(([name, queue]) => [name, queue.messages.size]);
      demand(ended, 'the run does not end', Object.fromEntries(left));
      checkAtRest(this.#evidence());
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

  #start(name: string, timeout: Millis): Started {
    const run = (this.#processes.get(name) ?? 0) + 1;
    this.#processes.set(name, run);
    const { config } = this.#scenario;
    const [chaos, log, jobs] = [this.#chaos, this.#log, this.#queues.batch];
    const around = {
      config,
      tables: this.#tables,
      queues: this.#queues,
      rejected: this.#rejected,
      told: { push: (...messages: CallbackMessage[]) => this.#tell(messages) },
      downstream: ({ random, gate }: Life) => simulatedDownstream({ chaos, random, log, gate, config, jobs }),
      ...(this.#scenario.items === undefined ? {} : { nodeSize: ITEM_NODES }),
    };
    return startProcess(around, beginLife(chaos, name, run, timeout));
  }

  #evidence(): Evidence {
    const { config, patrol, faults, faultsEnd, pauses = [], items } = this.#scenario;
    const isLimited = Object.values(config.operations).some(
      ({ concurrency: { perTarget, total }, circuit }) => perTarget !== null || total !== null || circuit !== null,
    );
    // A client that repeats a request by itself must not be noticed at all.
    const { repeat: _, ...grave } = this.#chaos.counts;
    const happened = Object.values(grave).some((count) => count > 0);
    return {
      config,
      tables: this.#tables,
      sent: this.#sent,
      rejected: this.#rejected,
      log: this.#log,
      told: this.#told,
      ...(items === undefined ? {} : { items }),
      seen: this.#seen,
      flushes: this.#flushes,
      cancelled: new Set((this.#scenario.cancels ?? []).map(({ id }) => id)),
      redriven: this.#redriven,
      patrolled: patrol,
      mayStopAmidWork: grave.crash + grave.throttle + grave.partial + grave.lostReply > 0,
      mayOverlap: this.#chaos.paused.has('batch'),
      wasPaused: pauses.length > 0,
      mayWaitForRoom: isLimited || pauses.length > 0,
      skew: faults.skew,
      isCalm: !happened && this.#scenario.purges.length === 0 && (faults.skew === 0 || faultsEnd === 0),
    };
  }

  /** Somebody flushes a Target; one that has no task yet is answered with nothing. */
  async #flush(target: Target): Promise<void> {
    const { name, deps } = this.#start('flush', LEADER_TIMEOUT);
    const at = this.#scheduler.now;
    const waiting = await attempt(this.#chaos, name, () => flush(deps, target), undefined);
    if (waiting !== undefined) this.#flushes.push({ target, at });
  }

  get #sinceStart(): Millis {
    return this.#scheduler.now - START;
  }

  #cancel(id: TaskId): void {
    const { name, deps } = this.#start('cancel', LEADER_TIMEOUT);
    attempt(this.#chaos, name, () => cancel(deps, id), undefined);
  }

  /** Somebody pauses something; he, or somebody after him, resumes it. */
  #pause(of: OperationName | Target, lasts: Millis): void {
    const { name, deps } = this.#start('pause', LEADER_TIMEOUT);
    const isOperation = this.#scenario.config.operations[of as OperationName] !== undefined;
    const begin = () => (isOperation ? pauseOperation(deps, of as OperationName) : pauseTarget(deps, of as Target));
    attempt(this.#chaos, name, begin, undefined);
    this.#scheduler.after(lasts, () => this.#resume(of, isOperation, Math.ceil(LONGEST_PAUSE / MINUTE)));
  }

  /** He asks until it is over; and some more, since whoever paused it may have been slow. */
  async #resume(of: OperationName | Target, isOperation: boolean, more: number): Promise<void> {
    const { name, deps } = this.#start('resume', LEADER_TIMEOUT);
    const ask = () =>
      isOperation ? askResumeOperation(deps, of as OperationName) : askResumeTarget(deps, of as Target);
    this.#scheduler.after(MINUTE, () => {
      if (more > 0 || this.#isPaused(of)) this.#resume(of, isOperation, more - 1);
    });
    await attempt(this.#chaos, name, ask, undefined);
  }

  #isPaused(of: OperationName | Target): boolean {
    return (
      (this.#tables.operations.get(of as OperationName) ?? this.#tables.locks.get(of as Target))?.paused !== undefined
    );
  }

  /** Somebody looks for failed tasks and asks for another run of each; some ask more than once. */
  #redrive(times: number): void {
    const failed = [...this.#tables.tasks.values()].filter(({ state }) => state.status === 'failed');
    for (const { id, run } of Array.from({ length: times }, () => failed).flat()) {
      this.#redriven.push({ id, run });
      this.#queues.register.send(printRedrive({ id, run }));
    }
  }

  #visitNowAndThen(): void {
    const { name, deps } = this.#start('doctor', LEADER_TIMEOUT);
    attempt(this.#chaos, name, () => doctor(deps), undefined);
    this.#scheduler.after(DOCTOR_COMES, () => this.#visitNowAndThen());
  }

  #sweepEachMinute(): void {
    const { name, deps, invocation } = this.#start('sweep', MINUTE);
    const locks = this.#scenario.patrol ? deps.locks : { ...deps.locks, targets: async () => ({ items: [] }) };
    attempt(this.#chaos, name, () => sweep({ ...deps, locks }, invocation), undefined);
    this.#scheduler.after(MINUTE, () => this.#sweepEachMinute());
  }
}
