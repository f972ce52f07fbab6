/**
 * Sweep, each minute: send dead letters again, later and later, and patrol a slice of the lock rows.
 *
 * The inner messages are hints whose truth is in the tables, so sending one again is always harmless, and never
 * sending it again could strand a Target. Whatever made them fail (a throttled table, a broken deployment) passes.
 */
import type { DeadLetter, Invocation, WorkingQueue } from '../ports.ts';
import type { Deps } from './deps.ts';
import { parseBatch, parseElect, parseGroup, UnreadableMessage } from './messages.ts';
import { patrol } from './patrol.ts';
import { withId } from './register-message.ts';
import { MAX_DELAY } from './timings.ts';

type SweepDeps = Pick<Deps, 'config' | 'deadLetters' | 'locks' | 'queues' | 'machine' | 'patrolMarks' | 'report'>;

const QUEUES: readonly WorkingQueue[] = ['register', 'elect', 'group', 'batch'];

/** What the sweep leaves of its time to the patrol, and the patrol to the end of the function, in milliseconds. */
const RESERVE = 5_000;

/**
 * A register body that is longer has no place left for its id and its count of revivals in a message of 1 MiB. Its
 * payload may have a quarter of that, so it is mostly space.
 */
const REGISTER_BODY_MAX = 1_000_000;

/**
 * All queues at once: a flood in one leaves time for the others, and an idle stack pays for one wait instead of four.
 *
 * @throws AggregateError of what failed, once everything has had its turn.
 */
export const sweep = async (deps: SweepDeps, invocation: Invocation): Promise<void> => {
  const timeIsLeft = (): boolean => invocation.timeLeft() > 2 * RESERVE;
  const revived = await Promise.allSettled(QUEUES.map((queue) => reviveAll(deps, queue, timeIsLeft)));
  const patrolled = await Promise.allSettled([patrol(deps, () => invocation.timeLeft() > RESERVE)]);
  const failures = [...revived, ...patrolled].flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
  if (failures.length > 0) throw new AggregateError(failures, `sweep: ${failures.map(String).join('; ')}`);
};

const reviveAll = async (deps: SweepDeps, queue: WorkingQueue, mayGoOn: () => boolean): Promise<void> => {
  while (mayGoOn()) {
    const letters = await deps.deadLetters.receive(queue);
    if (letters.length === 0) return;
    for (const letter of letters) await reviveOrLeave(deps, queue, letter);
  }
};

/** One letter that cannot be sent again stays where it is, and keeps no other one waiting. */
const reviveOrLeave = async (deps: SweepDeps, queue: WorkingQueue, letter: DeadLetter): Promise<void> => {
  try {
    await revive(deps, queue, letter);
  } catch (cause) {
    deps.report({ event: 'not-revived', queue, messageId: letter.messageId, cause: String(cause) });
  }
};

/** Sends before it deletes: a crash in between doubles the message, which is harmless; the other way round loses it. */
const revive = async (deps: SweepDeps, queue: WorkingQueue, letter: DeadLetter): Promise<void> => {
  const { deadLetters, queues, machine, report } = deps;
  const { messageId, revivals } = letter;
  const body = queue === 'register' ? withId(letter.body, messageId) : letter.body;
  const problem = hopeless(queue, body);
  if (problem) {
    await queues.reject([
      { messageId, body: letter.body, problems: [{ path: '', reason: problem }], at: machine.now() },
    ]);
    report({ event: 'unreadable', queue, messageId });
  } else {
    const delay = Math.min(MAX_DELAY / 1_000, 2 ** revivals);
    await deadLetters.revive(queue, { ...letter, body }, delay);
    report({ event: 'revived', queue, messageId, revivals: revivals + 1, delay });
  }
  await deadLetters.remove(queue, letter);
};

/** Why sending this message again can never help. The register λ refuses what it cannot read by itself, with reasons. */
const hopeless = (queue: WorkingQueue, body: string): string | undefined => {
  if (queue === 'register')
    return Buffer.byteLength(body) > REGISTER_BODY_MAX
      ? `register queue: the message has more than ${REGISTER_BODY_MAX} bytes`
      : undefined;
  const parse = { elect: parseElect, group: parseGroup, batch: parseBatch }[queue];
  try {
    parse(body);
    return undefined;
  } catch (cause) {
    if (cause instanceof UnreadableMessage) return `${queue} queue: ${cause.message}`;
    throw cause;
  }
};
