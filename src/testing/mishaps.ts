/**
 * What a test lets go wrong, by name: each at its next occasions, or at every one for a span. Nothing is left to
 * chance, and what does not come up does not happen.
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

/** When it goes wrong. @default once, at the next occasion */
export interface Occasions {
  /** At so many occasions. */
  readonly times?: number;
  /** At every occasion for so long, or `times` of them. */
  readonly for?: Duration | number;
}

/** Moments in a function's work, by what it has just done. */
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

/** Where a function is in the middle of something. */
const AMID = {
  register: 'tasks-stored',
  elect: 'guard-sent',
  group: 'tasks-claimed',
  batch: 'downstream-called',
} as const;

export type Moment<Fn extends WorkingQueue> = keyof (typeof MOMENTS)[Fn] & string;

/** A function, and a moment in its work. @default - amid it */
export type During<Verb extends string> = {
  [Fn in WorkingQueue]: { readonly [verb in Verb]: Fn } & { readonly after?: Moment<Fn> };
}[WorkingQueue];

/** The tables that can be throttled, by what their rows are called by the steps. */
const TABLES = {
  task: ['tasks'],
  'batch-lock': ['locks', 'waiting', 'operations', 'processed', 'patrolMarks'],
  batch: ['batches'],
  'fan-out': ['fanOuts'],
  list: ['lists'],
} as const;

/**
 * How a call is answered instead: by an answer, or by another function. `timeout`: not at all; `network-error`: it is
 * not reached; `reply-lost`: it does the work, and nobody hears of it.
 */
export type InjectedAnswer =
  | Exclude<DownstreamAnswer, undefined | null>
  // Whatever the operation's payload is.
  | DownstreamFunction<never>
  | 'timeout'
  | 'network-error'
  | 'reply-lost';

/**
 * Something that goes wrong.
 *
 * | | |
 * |---|---|
 * | `{downstream, answers}` | a call of that operation is answered so, and not by the test's own downstream |
 * | `{crash, after}` | a run of that function dies there; its messages come back when their visibility timeout ends |
 * | `{loseReply, after}` | the request of that moment is done, and its reply is lost: the function fails with it |
 * | `{throttle}` | requests to that table are refused, and not done |
 * | `{duplicate, after}` | a message of that queue is delivered twice, the second time so much later |
 * | `{delay, by}` | a message of that queue comes so much later than it should |
 * | `{destination}` | a destination does not take an event |
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

/** Something that was arranged to go wrong. */
export interface Injected {
  /** How often it has. */
  readonly happened: number;
  /** It does not happen any more. */
  stop(): void;
}

interface Planned {
  readonly mishap: Mishap;
  readonly most: number;
  readonly until: Millis;
  happened: number;
}

/** A duration, or milliseconds. @throws TestbedMisused */
export const spanOf = (span: Duration | number): Millis => {
  const millis = typeof span === 'number' ? span : parseDuration(span);
  if (millis !== undefined && Number.isSafeInteger(millis) && millis >= 0) return millis;
  throw new TestbedMisused(
    `${typeof span === 'string' ? JSON.stringify(span) : String(span)} is no duration: "500ms", "1s", "5m", "2h", or whole milliseconds`,
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
      throw new TestbedMisused(`times is a whole number from 1, not ${times}`);
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

  /** Nothing of what was arranged happens any more. */
  stop(): void {
    this.#planned = [];
  }

  /** What goes wrong here, if something does: the first of its kind that was arranged for it. */
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

  /** How a call of an operation's downstream is answered, if not by it. */
  answerFor(operation: string) {
    return this.#take('downstream', ({ downstream }) => downstream === operation)?.answers;
  }

  /** Whether a destination does not take an event. */
  refuses(destination: string): boolean {
    return this.#take('destination', (mishap) => mishap.destination === destination) !== undefined;
  }

  /** The gate of a function's calls: what `inner` makes of them, and what was arranged. */
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

  /** A function has made a call. Never resolves where it dies. @throws InjectedFault where the reply is lost */
  async after(fn: string, call: string): Promise<void> {
    const isHere = (of: WorkingQueue, moment: string = AMID[of]): boolean =>
      of === fn && (MOMENTS[of] as Readonly<Record<string, string>>)[moment] === call;
    if (this.#take('crash', ({ crash, after }) => isHere(crash, after))) await new Promise<never>(() => {});
    if (this.#take('loseReply', ({ loseReply, after }) => isHere(loseReply, after)))
      throw new InjectedFault(`${call}: reply lost`);
  }

  /** What a queue does that is like `habits` otherwise. */
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
        // Twice is not for ever.
        const mishap = isCopy ? undefined : this.#take('duplicate', ({ duplicate }) => duplicate === queue);
        return mishap ? spanOf(mishap.after ?? 0) : habits.again(id, isCopy);
      },
    };
  }
}

/** @throws TestbedMisused for what could never happen */
export const checkMishap = (config: Config, mishap: Mishap): void => {
  const known = <Name extends string>(what: string, name: Name, names: readonly string[]): void => {
    if (!names.includes(name))
      throw new TestbedMisused(`there is no ${what} ${JSON.stringify(name)}: there are ${names.join(', ')}`);
  };
  const during = (fn: WorkingQueue, moment: string = AMID[fn]): void => {
    known('function', fn, Object.keys(MOMENTS));
    known(`moment of the function ${fn}`, moment, Object.keys(MOMENTS[fn]));
  };
  const answer = (given: unknown): void => {
    if (typeof given === 'string') known('answer', given, ANSWERS);
    else if (typeof given !== 'function' && (typeof given !== 'object' || given === null))
      throw new TestbedMisused(`answers is an answer, a function that gives one, or one of ${ANSWERS.join(', ')}`);
  };
  if ('downstream' in mishap)
    known('operation', mishap.downstream, Object.keys(config.operations)) ?? answer(mishap.answers);
  else if ('destination' in mishap) known('destination', mishap.destination, Object.keys(config.destinations));
  else if ('throttle' in mishap) known('table', mishap.throttle, Object.keys(TABLES));
  else if ('crash' in mishap) during(mishap.crash, mishap.after);
  else if ('loseReply' in mishap) during(mishap.loseReply, mishap.after);
  else if ('duplicate' in mishap) known('queue', mishap.duplicate, QUEUES) ?? spanOf(mishap.after ?? 0);
  else if ('delay' in mishap) known('queue', mishap.delay, QUEUES) ?? spanOf(mishap.by);
  else throw new TestbedMisused(`${JSON.stringify(mishap)} says nothing that could go wrong`);
};

const ANSWERS: readonly Extract<InjectedAnswer, string>[] = ['timeout', 'network-error', 'reply-lost'];
const QUEUES: readonly SourceQueue[] = ['register', 'elect', 'group', 'batch', 'callback'];
