/**
 * The spans and counts that the core's liveness rests on (design, section 5): function timeout < lease < visibility timeout, so
 * that a crashed leader's lease ends before its message comes back, and a living one is never waited for in vain. And how long a
 * message is delayed by SQS, which counts in whole seconds and up to fifteen minutes.
 */

import type { Millis } from './ids.ts';

export const SECOND: Millis = 1_000;
export const MINUTE: Millis = 60 * SECOND;

/** The timeout of the λs that take part in leading a Target. */
export const LEADER_TIMEOUT: Millis = 20 * SECOND;
/**
 * How long one request to an AWS service may take in a function, with all tries of the client, and how long one try may take.
 * The register function tries a message up to three times, each time with fewer others: it has time for three such requests.
 */
export const [AWS_CALL, AWS_TRY]: readonly [Millis, Millis] = [5 * SECOND, 2 * SECOND];
/** A function's requests end so long before its timeout: until then it reports which of its messages failed. */
export const TO_REPORT: Millis = SECOND / 2;
/** How long a request may take that begins when a function has `timeLeft`. Zero or less if there is no time for one. */
export const timeForCall = (timeLeft: Millis, most: Millis = AWS_CALL): Millis => Math.min(most, timeLeft - TO_REPORT);
/** How long a lock outlives the last sign of its holder. */
export const LEASE: Millis = 45 * SECOND;
/** A message that was just sent may still be on its way: only what is left alone for longer is stuck. */
export const GRACE: Millis = 2 * LEASE + MINUTE;
/** After this a message that nobody deleted is delivered again. */
export const LEADER_VISIBILITY: Millis = 60 * SECOND;
/** Register messages follow the rule of six timeouts: nobody waits for them to come back. */
export const REGISTER_VISIBILITY: Millis = 6 * LEADER_TIMEOUT;
/** How often a message is received before it is a dead letter; for events see {@link CALLBACK_RECEIVES}. */
export const MAX_RECEIVES = 5;
/**
 * The same for events, and as often as SQS allows: they come back after delays of their own, mostly without a call. Even at the
 * longest delay (15 minutes) that is ten days, less than a queue keeps them.
 */
export const CALLBACK_RECEIVES = 1_000;
/** How often an event is received before it is given up, however old it is: one that a person had sent again has some chances. */
export const CALLBACK_CHANCES = 3;
/** By how much the visibility timeout of events exceeds their function's: what no function puts off, as after a crash, comes back soon. */
export const CALLBACK_MARGIN: Millis = 30 * SECOND;
/** Messages that one invocation of a function gets at the most; of the register function, unless the configuration says so. */
export const MESSAGES_AT_ONCE = { register: 10, elect: 10, group: 10, batch: 5, callback: 10 } as const;
/** As many register messages as an invocation has time for, and the longest that messages may be gathered for it. */
export const REGISTER_LIMITS = { messages: 500, wait: MINUTE } as const;
/** How long queues keep a message, from when it was first sent: as long as SQS can. A message must outlast any outage. */
export const RETENTION: Millis = 14 * 24 * 60 * MINUTE;
/** The most that SQS delays a message; longer waits go in hops. */
export const MAX_DELAY: Millis = 900 * SECOND;
/** Who wakes within this need not be woken. */
export const SOON: Millis = 1_000;
/** A leader with less time than this hands over instead of opening another batch. One request without an answer fits into it. */
export const HANDOVER_MARGIN: Millis = 6 * SECOND;
/** For how long a leader goes on with one message. Then the next guard takes its turn behind those of other Targets. */
export const STINT: Millis = 5 * SECOND;
/** By how much two machines' clocks may differ at the most. */
export const CLOCK_SKEW: Millis = 30 * SECOND;
/** What a batch handler needs besides its downstream calls. */
export const HANDLER_OVERHEAD: Millis = 10 * SECOND;
/**
 * How long after its end Groupage tries to deliver an event; then the callback function or the sweep gives it up. Within it are a weekend, and a day for whoever mends the
 * destination; a destination that is gone for good is not tried for ever.
 */
export const CALLBACK_PATIENCE: Millis = 72 * 60 * MINUTE;

/** A rest shorter than this is not worth a λ that sleeps: the message comes that much late. */
const TOLERATED_LATENESS: Millis = 200;

/**
 * The delay of a message that should be handled after `wait`. Rounds down, unless that would leave nearly a whole
 * second for the receiver to sleep.
 *
 * @returns whole seconds, 0 to 900; 0 asks the receiver to sleep the rest itself.
 */
export const delaySeconds = (wait: Millis): number =>
  Math.floor((Math.min(Math.max(wait, 0), MAX_DELAY) + TOLERATED_LATENESS) / 1_000);

/** The delay after which `moment` has surely passed, in whole seconds; a longer way is gone in hops of 900. */
export const delayPast = (moment: Millis, now: Millis): number =>
  Math.min(MAX_DELAY / 1_000, Math.max(1, Math.floor((moment - now) / 1_000) + 1));
