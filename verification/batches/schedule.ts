/**
 * Runs one schedule of tasks. The real steps run on tables and queues in memory, under a virtual clock, with faults
 * drawn from the seed. The schedule ends when everything has come to rest, or at the first broken promise.
 */
import { isHeld } from '../../src/domain/batches/lock.ts';
import type { Millis, OperationName } from '../../src/domain/ids.ts';
import { parseRegisterMessage } from '../../src/domain/register/register-message.ts';
import type { Rejection } from '../../src/domain/register/rejection.ts';
import { MINUTE } from '../../src/domain/timings.ts';
import { slotsIn, type Tables } from '../../src/memory/tables.ts';
import { attempt } from '../../src/processes/process.ts';
import { sweep } from '../../src/steps/repair/sweep.ts';
import { START } from '../../src/virtual/trace.ts';
import { demand } from '../../src/virtual/violation.ts';
import type { SimulationReport } from '../harness/simulation.ts';
import { Account } from './account.ts';
import { checkAtRest } from './at-rest.ts';
import type { CallLog } from './call-log.ts';
import type { SeenSweep } from './evidence.ts';
import { gatherEvidence } from './gather-evidence.ts';
import { stoppedFor } from './habits.ts';
import { LONGEST_PAUSE, People } from './operators.ts';
import type { Scenario, Stop } from './scenario.ts';
import { checkForgotten, notingPatrol, watchForgotten } from './sweeps.ts';
import { deleteExpired, type Expired, expire } from './time-to-live.ts';
import { redrivesIn, withUniqueNames } from './unique-names.ts';

export interface Report extends SimulationReport {
  readonly tables: Tables;
  /** Rows that expired and were deleted. */
  readonly expired: Expired;
  readonly rejected: readonly Rejection[];
  readonly calls: number;
  /** What the downstream received and answered. Times count from {@link START}. */
  readonly log: CallLog;
}

/** The longest time until a schedule comes to rest, in ms. A longer schedule is stuck. */
const PATIENCE: Millis = 48 * 60 * MINUTE;
/**
 * How often the doctor runs if queues are purged, and how long the schedule must have been at rest until the doctor has
 * found everything that the longest delay can hide.
 */
const [DOCTOR_COMES, DOCTOR_KNOWS]: readonly [Millis, Millis] = [15 * MINUTE, 120 * MINUTE];

/**
 * Runs a schedule. The same scenario gives exactly the same report.
 * @param traced whether to record a line for each event
 */
export const runSchedule = (scenario: Scenario, traced = false): Promise<Report> =>
  new Course(new Account(scenario, traced)).run();

/** The course of a schedule in its account. */
class Course {
  readonly #account: Account;
  readonly #scenario: Scenario;
  readonly #people: People;
  readonly #forgottenFor: ReturnType<typeof watchForgotten>;
  readonly #lastEvent: Millis;
  #restingSince: Millis | undefined;

  constructor(account: Account) {
    this.#account = account;
    this.#scenario = account.scenario;
    this.#people = new People(account);
    this.#forgottenFor = watchForgotten(account.tables);
    this.#lastEvent = lastEventOf(account.scenario);
  }

  async run(): Promise<Report> {
    const { simulation, tables, expired, rejected, log } = this.#account;
    const { items, isLong = false } = this.#scenario;
    if (items !== undefined) await this.#account.open(items);
    this.#plan();
    const ended = await simulation.scheduler.run(
      () => simulation.isBroken || this.#atRest(),
      START + PATIENCE + (isLong ? this.#lastEvent : 0),
    );
    if (!simulation.isBroken) this.#checkEnd(ended);
    return { ...simulation.report, tables, expired, rejected, calls: log.calls.length, log };
  }

  #plan(): void {
    const { sends, flushes, cancels = [], pauses = [], redrives, purges, sendsAgain = [] } = this.#scenario;
    const { changes = [], expiries = [], isLong = false } = this.#scenario;
    const [account, people] = [this.#account, this.#people];
    const { scheduler } = account.simulation;
    for (const { at, body, late } of sends) scheduler.after(at, () => account.send(body, late));
    for (const { at, target } of flushes) scheduler.after(at, () => people.flush(target));
    for (const { at, id } of cancels) scheduler.after(at, () => people.cancel(id, isLong));
    for (const { at, lasts, of } of pauses)
      scheduler.after(at, () => people.pause(of, at + lasts - account.simulation.sinceStart));
    for (const { at, times } of redrives) scheduler.after(at, () => people.redrive(times));
    for (const at of purges)
      scheduler.after(at, () => {
        for (const queue of ['elect', 'group', 'batch'] as const) account.queues[queue].purge();
      });
    for (const at of sendsAgain) scheduler.after(at, () => this.#sendAgain());
    // A change of the caps may free or take slots for which Targets wait.
    for (const { at } of changes)
      scheduler.after(at, () => {
        for (const operation of account.tables.operations.keys()) account.tables.watcher.waitingTarget?.(operation);
      });
    for (const at of expiries) scheduler.after(at, () => this.#expire());
    this.#sweepEachMinute();
    if (purges.length > 0 || isLong) this.#visitNowAndThen();
    if (isLong) this.#deleteOldNowAndThen();
  }

  /**
   * The function of a lost message may have stored the task without its waiting row. The same message, sent again,
   * completes the task.
   */
  #sendAgain(): void {
    const { rejected, lost } = this.#account;
    this.#people.sendAgain(rejected, (body) => this.#account.send(body));
    for (const body of [...lost].filter((each) => redrivesIn(this.#scenario.config, [each]).length === 0)) {
      lost.delete(body);
      // The judges check only the second message, unless the first message began a task of its own.
      if (!this.#beganTask(body)) this.#account.keepSent((each) => each.body !== body);
      this.#account.send(body);
    }
  }

  #beganTask(body: string): boolean {
    const { tables, expired } = this.#account;
    const parsed = parseRegisterMessage(this.#scenario.config, { messageId: '', body });
    const tasks = [...tables.tasks.values(), ...expired.tasks.map(({ row }) => row)];
    return tasks.some(
      ({ id, correlationId }) => parsed.ok && id === parsed.value.id && correlationId === parsed.value.correlationId,
    );
  }

  /**
   * Whether the schedule is at rest: no message is in flight, and has not been for longer than any pause of a process.
   * A lock whose guard was purged stays held until its lease ends.
   */
  #atRest(): boolean {
    const { now, queues, tables, simulation } = this.#account;
    const { config, faultsEnd, patrol, purges, isLong } = this.#scenario;
    // Usually a queue is not empty, and then the other conditions need not be checked.
    if (!Object.values(queues).every((queue) => queue.isEmpty)) {
      this.#restingSince = undefined;
      return false;
    }
    const isPaused = [...tables.operations.values(), ...tables.locks.values()].some(({ paused }) => paused);
    // If a crash left a slot taken, only the sweep frees it, or the sweep's patrol for slots of Targets. If a function
    // stored the end of a fan-out and then died, only the sweep sends the fan-out's event. The sweep may itself die in
    // several successive minutes.
    const operations = Object.keys(config.operations) as OperationName[];
    const needsSweep =
      simulation.sinceStart < faultsEnd &&
      ([...tables.waitingTargets.values()].some((targets) => targets.size > 0) ||
        operations.some((operation) => slotsIn(tables, operation).length > 0) ||
        (patrol && [...tables.slotPages.values()].some(({ slots }) => slots.length > 0)) ||
        [...tables.fanOuts.values()].some(({ event }) => event !== undefined));
    const isQuiet =
      !isPaused &&
      !needsSweep &&
      simulation.sinceStart > this.#lastEvent &&
      !(queues.group.wasPurged && [...tables.locks.values()].some((lock) => isHeld(lock, now)));
    this.#restingSince = isQuiet ? (this.#restingSince ?? now) : undefined;
    // The next sweep must read what a paused process wrote last.
    const enough = purges.length > 0 || isLong ? DOCTOR_KNOWS : LONGEST_PAUSE + 2 * MINUTE;
    return this.#restingSince !== undefined && now - this.#restingSince > enough;
  }

  #checkEnd(ended: boolean): void {
    const { simulation, queues, expired, sent } = this.#account;
    simulation.judge(() => {
      const left = Object.entries(queues).map(([name, queue]) => [name, queue.messages.size]);
      demand(ended, 'the schedule comes to rest', Object.fromEntries(left));
      const evidence = gatherEvidence(this.#account, this.#people);
      checkAtRest(this.#scenario.isLong ? withUniqueNames(evidence, expired, sent) : evidence);
    });
  }

  #expire(): void {
    const { tables, log, seen, sentCallbacks, now } = this.#account;
    const gone = expire(tables, { log, seen, sentCallbacks, redriven: this.#people.redriven }, now - LONGEST_PAUSE);
    this.#account.keepSent((message) => {
      const parsed = parseRegisterMessage(this.#scenario.config, message);
      return !parsed.ok || !gone.has(parsed.value.id);
    });
  }

  #visitNowAndThen(): void {
    // In schedules of months the doctor runs only after messages were lost.
    if (!this.#scenario.isLong || this.#account.wasPurged) this.#people.callDoctor();
    this.#account.again(DOCTOR_COMES, () => this.#visitNowAndThen());
  }

  /** Deletes expired rows, and messages older than the retention period. */
  #deleteOldNowAndThen(): void {
    const { simulation, queues, tables, log, expired, quiet, now } = this.#account;
    const { chaos, scheduler } = simulation;
    for (const queue of Object.values(queues)) queue.loseOld();
    simulation.judge(() => deleteExpired(tables, log, chaos, expired));
    const pause = chaos.chanceOf(`old rows at ${now}`).int(1, Math.max(MINUTE, quiet(now)));
    scheduler.after(pause, () => this.#deleteOldNowAndThen());
  }

  #sweepEachMinute(): void {
    const { stops = [], patrol } = this.#scenario;
    const { sinceStart } = this.#account.simulation;
    const standsStill = (of: Stop['of'][number]): boolean => stoppedFor(stops, of, sinceStart) > 0;
    if (patrol) this.#lookForForgotten(standsStill('elect') || standsStill('sweep'));
    if (!standsStill('sweep')) this.#sweep();
    this.#account.again(MINUTE, () => this.#sweepEachMinute());
  }

  /**
   * Runs each minute, because the schedule may come to rest only hours later.
   * @param isStopped whether the elect function or the sweep stands still
   */
  #lookForForgotten(isStopped: boolean): void {
    const { simulation, seen, now } = this.#account;
    seen.forgotten = Math.max(seen.forgotten, this.#forgottenFor(now, isStopped));
    simulation.judge(() => checkForgotten(gatherEvidence(this.#account, this.#people)));
  }

  #sweep(): void {
    const { simulation, seen } = this.#account;
    const { patrol, slowSweep: slowness = 0, steps } = this.#scenario;
    const { name, deps, invocation } = this.#account.start('sweep', MINUTE);
    const locks = patrol ? deps.locks : { ...deps.locks, targets: async () => ({ items: [] }) };
    const { sweep: step = sweep } = steps ?? {};
    const came: SeenSweep = { hasEnded: false, hasPatrolled: false, slowness };
    seen.sweeps.push(came);
    const run = async (): Promise<void> => {
      await step({ ...deps, locks: notingPatrol(locks, came) }, invocation);
      came.hasEnded = true;
    };
    attempt(simulation.chaos, name, run, undefined);
  }
}

/** The time of the last event, in ms from the start. The schedule cannot be at rest before. */
const lastEventOf = (scenario: Scenario): Millis => {
  const { sends, redrives, purges, pauses = [], changes = [], faultsEnd, outages = [], stops = [] } = scenario;
  return Math.max(
    0,
    ...[...sends, ...redrives, ...changes].map(({ at }) => at),
    ...pauses.map(({ at, lasts }) => at + lasts),
    // The doctor repairs what a purge left only when faults no longer interrupt the doctor.
    ...(purges.length > 0 ? [...purges, faultsEnd] : []),
    ...(scenario.sendsAgain ?? []),
    ...(scenario.isLong ? [faultsEnd] : []),
    ...[...outages, ...stops].map(({ until }) => until),
  );
};
