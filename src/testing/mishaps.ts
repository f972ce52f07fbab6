/**
 * Faults that a test arranges by name. A fault happens at its next occasions, or at every occasion during a span of
 * time. Nothing is left to chance. Without an occasion, the fault does not happen.
 */

import { type Duration, parseDuration } from '../domain/config/duration.ts';
import type { Config } from '../domain/config/resolved.ts';
import type { Millis } from '../domain/ids.ts';
import type { SourceQueue, WorkingQueue } from '../ports/queues.ts';
import { InjectedFault } from '../virtual/faults.ts';
import { DOWNSTREAM_CALL } from '../virtual/faulty-gate.ts';
import type { Gate } from '../virtual/gate.ts';
import type { Habits } from '../virtual/habits.ts';
import { TestbedMisused } from './failures.ts';
import type { DownstreamAnswer, DownstreamFunction } from './wire.ts';

/**
 * When a mishap happens.
 * @default - once, at the next occasion
 */
export interface Occasions {
  /** Maximum number of occasions at which the mishap happens. */
  readonly times?: number;
  /**
   * Span of virtual time (a duration, or milliseconds). The mishap happens at every occasion during this span, or at
   * the first `times` occasions.
   */
  readonly for?: Duration | number;
}

/** Moments in a function's work. A moment is identified by the call that the function has just made. */
const MOMENTS = {
  register: { 'tasks-stored': 'tasks.insert', 'tasks-waiting': 'waiting.put', 'leader-asked-for': 'queues.elect' },
  elect: { 'guard-sent': 'queues.group', 'lock-taken': 'locks.acquire' },
  group: {
    'lock-taken': 'locks.acquire',
    'batch-opened': 'locks.openBatch',
    'batch-formed': 'batches.form',
    'tasks-claimed': 'tasks.claim',
    'batch-sealed': 'batches.seal',
    'batch-sent': 'queues.batch',
  },
  batch: {
    'attempt-started': 'batches.start',
    'downstream-called': DOWNSTREAM_CALL,
    'results-written': 'tasks.finish',
    'batch-finished': 'batches.finish',
  },
} as const satisfies Record<WorkingQueue, Record<string, string>>;

/** The default moment of each function, in the middle of its work. */
const AMID = {
  register: 'tasks-stored',
  elect: 'guard-sent',
  group: 'tasks-claimed',
  batch: 'downstream-called',
} as const;

export type Moment<Fn extends WorkingQueue> = keyof (typeof MOMENTS)[Fn] & string;

/**
 * A function, and a moment in its work.
 * @default - a moment in the middle of its work
 */
export type During<Verb extends string> = {
  [Fn in WorkingQueue]: { readonly [verb in Verb]: Fn } & { readonly after?: Moment<Fn> };
}[WorkingQueue];

/** The tables that can be throttled, with the names of their ports. */
const TABLES = {
  task: ['tasks'],
  'batch-lock': ['locks', 'waiting', 'operations', 'buckets', 'processed', 'patrolMarks'],
  batch: ['batches'],
  'fan-out': ['fanOuts'],
  list: ['lists'],
} as const;

/**
 * What replaces the answer of a call: another answer, or another function. `timeout`: the downstream does not answer.
 * `network-error`: the call does not reach the downstream. `reply-lost`: the downstream does the work, but its answer
 * is lost.
 */
export type InjectedAnswer =
  | Exclude<DownstreamAnswer, undefined | null>
  // The type of the payload does not matter here.
  | DownstreamFunction<never>
  | 'timeout'
  | 'network-error'
  | 'reply-lost';

/**
 * A fault that a test arranges.
 *
 * | | |
 * |---|---|
 * | `{downstream, answers}` | a call of this operation gets this answer instead of the test downstream's |
 * | `{crash, after}` | an invocation of this function crashes at this moment; its messages are delivered again when their visibility timeout ends |
 * | `{loseReply, after}` | the request at this moment takes effect, but its reply is lost, and the function gets an error |
 * | `{throttle}` | requests to this table are throttled, and have no effect |
 * | `{duplicate, after}` | a message of this queue is delivered twice; `after` is the time until the second delivery |
 * | `{delay, by}` | a message of this queue is delivered later than it should be; `by` is this additional time |
 * | `{destination}` | a destination does not accept an event |
 */
export type Mishap<Operation extends string = string> = Occasions &
  (
    | {
        readonly downstream: Operation;
        readonly answers: InjectedAnswer;
      }
    | During<'crash'>
    | During<'loseReply'>
    | { readonly throttle: keyof typeof TABLES }
    | { readonly duplicate: SourceQueue; readonly after?: Duration | number }
    | { readonly delay: SourceQueue; readonly by: Duration | number }
    | { readonly destination: string }
  );

/** A mishap that was arranged. */
export interface Injected {
  /** How often the mishap has happened. */
  readonly happened: number;
  /** Stops the mishap, so that it does not happen again. */
  stop(): void;
}

interface Planned {
  readonly mishap: Mishap;
  readonly most: number;
  readonly until: Millis;
  happened: number;
}

/**
 * Converts a span to milliseconds.
 * @throws TestbedMisused if the span is neither a duration nor a whole number of milliseconds
 */
export const spanOf = (span: Duration | number): Millis => {
  const millis = typeof span === 'number' ? span : parseDuration(span);
  if (millis !== undefined && Number.isSafeInteger(millis) && millis >= 0) return millis;
  throw new TestbedMisused(
    `${typeof span === 'string' ? JSON.stringify(span) : String(span)} is not a duration: use "500ms", "1s", "5m", "2h" or a whole number of milliseconds`,
  );
};

export class Mishaps {
  readonly #now: () => Millis;
  #planned: Planned[] = [];

  constructor(now: () => Millis) {
    this.#now = now;
  }

  plan(mishap: Mishap): Injected {
    const { times, for: span } = mishap;
    if (times !== undefined && !(Number.isSafeInteger(times) && times > 0))
      throw new TestbedMisused(`times must be a whole number from 1, not ${times}`);
    const planned: Planned = {
      mishap,
      most: times ?? (span === undefined ? 1 : Number.POSITIVE_INFINITY),
      until: span === undefined ? Number.POSITIVE_INFINITY : this.#now() + spanOf(span),
      happened: 0,
    };
    this.#planned.push(planned);
    return {
      get happened() {
        return planned.happened;
      },
      stop: () => {
        this.#planned = this.#planned.filter((each) => each !== planned);
      },
    };
  }

  /** Stops all mishaps. */
  stop(): void {
    this.#planned = [];
  }

  /** Takes the first mishap that is of this kind, fits, and is not used up. Undefined if there is none. */
  #take<Kind extends string>(
    kind: Kind,
    fits: (mishap: Extract<Mishap, Record<Kind, unknown>>) => boolean,
  ): Extract<Mishap, Record<Kind, unknown>> | undefined {
    const now = this.#now();
    for (const planned of this.#planned) {
      const mishap = planned.mishap as Extract<Mishap, Record<Kind, unknown>>;
      if (planned.happened >= planned.most || now >= planned.until || !(kind in mishap && fits(mishap))) continue;
      planned.happened += 1;
      return mishap;
    }
    return undefined;
  }

  /** The answer that the test arranged for a call of an operation's downstream. Undefined if there is none. */
  answerFor(operation: string) {
    return this.#take('downstream', ({ downstream }) => downstream === operation)?.answers;
  }

  /** Whether an arranged mishap makes the destination refuse this event. */
  refuses(destination: string): boolean {
    return this.#take('destination', (mishap) => mishap.destination === destination) !== undefined;
  }

  /** The gate of a function's calls: adds the arranged mishaps to `inner`. */
  gateFor(fn: string, inner: Gate): Gate {
    return async (call, effects) => {
      const [port] = call.split('.');
      const isOf = (table: keyof typeof TABLES): boolean => (TABLES[table] as readonly unknown[]).includes(port);
      if (this.#take('throttle', ({ throttle }) => isOf(throttle))) throw new InjectedFault(`${call}: throttled`);
      const answers = await inner(call, effects);
      if (call !== DOWNSTREAM_CALL) await this.after(fn, call);
      return answers;
    };
  }

  /**
   * Called after a function's call. Never resolves if the function crashes there.
   * @throws InjectedFault if the reply is lost
   */
  async after(fn: string, call: string): Promise<void> {
    const isHere = (of: WorkingQueue, moment: string = AMID[of]): boolean =>
      of === fn && (MOMENTS[of] as Readonly<Record<string, string>>)[moment] === call;
    if (this.#take('crash', ({ crash, after }) => isHere(crash, after))) await new Promise<never>(() => {});
    if (this.#take('loseReply', ({ loseReply, after }) => isHere(loseReply, after)))
      throw new InjectedFault(`${call}: reply lost`);
  }

  /** The behaviour of a queue: `habits`, with the delays and duplicates that the test arranged. */
  habitsFor(queue: SourceQueue, habits: Habits): Habits {
    const delayed = (): Millis => {
      const mishap = this.#take('delay', ({ delay }) => delay === queue);
      return mishap ? spanOf(mishap.by) : 0;
    };
    return {
      ...habits,
      overdue: (id) => habits.overdue(id) + delayed(),
      late: (id) => habits.late(id) + delayed(),
      again: (id, isCopy) => {
        // A copy is not duplicated again.
        const mishap = isCopy ? undefined : this.#take('duplicate', ({ duplicate }) => duplicate === queue);
        return mishap ? spanOf(mishap.after ?? 0) : habits.again(id, isCopy);
      },
    };
  }
}

/**
 * Checks a mishap.
 * @throws TestbedMisused if the mishap could never happen
 */
export const checkMishap = (config: Config, mishap: Mishap): void => {
  const known = <Name extends string>(what: string, name: Name, names: readonly string[]): void => {
    if (!names.includes(name))
      throw new TestbedMisused(`there is no ${what} ${JSON.stringify(name)}; use one of: ${names.join(', ')}`);
  };
  const during = (fn: WorkingQueue, moment: string = AMID[fn]): void => {
    known('function', fn, Object.keys(MOMENTS));
    known(`moment of the function ${fn}`, moment, Object.keys(MOMENTS[fn]));
  };
  const answer = (given: unknown): void => {
    if (typeof given === 'string') known('answer', given, ANSWERS);
    else if (typeof given !== 'function' && (typeof given !== 'object' || given === null))
      throw new TestbedMisused(
        `answers must be an answer, a function that returns one, or one of ${ANSWERS.join(', ')}`,
      );
  };
  if ('downstream' in mishap)
    known('operation', mishap.downstream, Object.keys(config.operations)) ?? answer(mishap.answers);
  else if ('destination' in mishap) known('destination', mishap.destination, Object.keys(config.destinations));
  else if ('throttle' in mishap) known('table', mishap.throttle, Object.keys(TABLES));
  else if ('crash' in mishap) during(mishap.crash, mishap.after);
  else if ('loseReply' in mishap) during(mishap.loseReply, mishap.after);
  else if ('duplicate' in mishap) known('queue', mishap.duplicate, QUEUES) ?? spanOf(mishap.after ?? 0);
  else if ('delay' in mishap) known('queue', mishap.delay, QUEUES) ?? spanOf(mishap.by);
  else throw new TestbedMisused(`${JSON.stringify(mishap)} is not a mishap: see the type Mishap`);
};

const ANSWERS: readonly Extract<InjectedAnswer, string>[] = ['timeout', 'network-error', 'reply-lost'];
const QUEUES: readonly SourceQueue[] = ['register', 'elect', 'group', 'batch', 'callback'];
