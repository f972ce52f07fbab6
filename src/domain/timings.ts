/**
 * The time spans on which the progress of the algorithm depends. Function timeout < lease < visibility timeout: when
 * SQS delivers the message of a crashed leader again, that leader's lease has ended. And no function waits in vain for
 * a leader that is alive. Also the delays of messages: SQS counts them in whole seconds, up to 15 minutes.
 */

import type { Millis } from './ids.ts';

export const SECOND: Millis = 1_000;
export const MINUTE: Millis = 60 * SECOND;

/** The timeout of the functions that take part in leading a Target. */
export const LEADER_TIMEOUT: Millis = 20 * SECOND;
/**
 * How long one request to an AWS service may take in a function, including all retries of the client, and how long each
 * single try may take. The register function handles a message in up to three passes, each with fewer other messages,
 * and has time for three such requests.
 */
export const [AWS_CALL, AWS_TRY]: readonly [Millis, Millis] = [5 * SECOND, 2 * SECOND];
/**
 * A function's requests end this long before its timeout. In the remaining time the function reports which of its
 * messages failed.
 */
export const TO_REPORT: Millis = SECOND / 2;
/** How long a request may take if the function has `timeLeft`. Zero or less if there is no time for a request. */
export const timeForCall = (timeLeft: Millis, most: Millis = AWS_CALL): Millis => Math.min(most, timeLeft - TO_REPORT);
/** How long a lock outlives the last write of its holder. */
export const LEASE: Millis = 45 * SECOND;
/**
 * How long the lock of a Target whose operation has limits outlives the last write of its holder. The leader waits for a
 * moment under the limits without another write of the lock, so the lease is longer than the longest delay of a message.
 */
export const LIMITED_LEASE: Millis = 900 * SECOND + LEASE;
/** After this time, a leader that waits for a moment looks again, in case a message was lost. */
export const LOOK_AGAIN: Millis = 840 * SECOND;
/** How long something may be left alone before it counts as stuck. Until then, its message may still be under way. */
export const GRACE: Millis = 2 * LEASE + MINUTE;
/** The visibility timeout of elect and group messages. */
export const LEADER_VISIBILITY: Millis = 60 * SECOND;
/**
 * The visibility timeout of register messages: six function timeouts, as AWS recommends. No part of the algorithm waits
 * for their redelivery.
 */
export const REGISTER_VISIBILITY: Millis = 6 * LEADER_TIMEOUT;
/** How often a message is received before it becomes a dead letter. For events see {@link CALLBACK_RECEIVES}. */
export const MAX_RECEIVES = 5;
/**
 * How often an event is received before it becomes a dead letter: as often as SQS allows. An event returns to its queue
 * with a delay of its own, usually without a call. With the longest delay (15 minutes), this many receives take ten
 * days, which is less than the time for which a queue keeps a message.
 */
export const CALLBACK_RECEIVES = 1_000;
/**
 * How often an event is received before it may be given up, even if it is old. An event that a person sent again is
 * old, and gets this many deliveries.
 */
export const CALLBACK_CHANCES = 3;
/**
 * By how much the visibility timeout of events exceeds the callback function's timeout. It is small, so that the events
 * of a crashed invocation return soon.
 */
export const CALLBACK_MARGIN: Millis = 30 * SECOND;
/**
 * Most messages of one invocation of each function. The configuration may set another number for the register function.
 */
export const MESSAGES_AT_ONCE = { register: 10, elect: 10, group: 10, batch: 5, callback: 10 } as const;
/** Most concurrent invocations of each function of the flow, so that one function leaves the quota of an account to others. */
export const INVOCATIONS_AT_ONCE = { register: 100, elect: 50, group: 100, batch: 100 } as const;
/**
 * The most register messages that an invocation has time for, and the longest time for which messages may be gathered.
 */
export const REGISTER_LIMITS = { messages: 500, wait: MINUTE } as const;
/**
 * How long queues keep a message, counted from the time at which it was first sent: the longest time that SQS allows,
 * because a message must outlast any outage.
 */
export const RETENTION: Millis = 14 * 24 * 60 * MINUTE;
/** The longest delay of a message in SQS. A longer wait takes several messages. */
export const MAX_DELAY: Millis = 900 * SECOND;
/** A leader that wakes within this time needs no hint. */
export const SOON: Millis = 1_000;
/**
 * A leader with less time left than this hands over instead of opening another batch. The margin is long enough for one
 * request without an answer.
 */
export const HANDOVER_MARGIN: Millis = 6 * SECOND;
/**
 * How long a leader works on one message. Then it hands over, and the guard of the next leader is received after the
 * guards of other Targets.
 */
export const STINT: Millis = 5 * SECOND;
/** By how much the clocks of two machines may differ. */
export const CLOCK_SKEW: Millis = 30 * SECOND;
/** The time that a batch handler needs besides its downstream calls. */
export const HANDLER_OVERHEAD: Millis = 10 * SECOND;
/**
 * How long after its end Groupage tries to deliver an event. Then the callback function or the sweep gives it up. The
 * time covers a weekend and one more day for fixing the destination. It is limited, because a destination may be gone
 * for good.
 */
export const CALLBACK_PATIENCE: Millis = 72 * 60 * MINUTE;

/** For a remaining wait shorter than this, a function does not sleep. The message is handled that much late instead. */
const TOLERATED_LATENESS: Millis = 200;

/**
 * The delay for a message that should be handled after `wait`. The delay is rounded down, unless the function that
 * receives the message would then sleep for nearly a whole second.
 *
 * @returns whole seconds, 0 to 900. The function that receives the message sleeps for the rest.
 */
export const delaySeconds = (wait: Millis): number =>
  Math.floor((Math.min(Math.max(wait, 0), MAX_DELAY) + TOLERATED_LATENESS) / 1_000);

/**
 * The delay, in whole seconds, after which `moment` is certainly in the past. It is at most 900, so a longer wait takes
 * several messages.
 */
export const delayPast = (moment: Millis, now: Millis): number =>
  Math.min(MAX_DELAY / 1_000, Math.max(1, Math.floor((moment - now) / 1_000) + 1));
