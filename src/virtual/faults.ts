/** What may go wrong, how often it may, and how often it did. */
import type { Millis } from '../domain/ids.ts';

/** Probabilities per call on a port, unless they say otherwise. */
export interface FaultRates {
  /** The function dies: before the call, amid its effects or after them. */
  readonly crash: number;
  /** The function stops for longer than a lease, and then goes on. */
  readonly pause: number;
  /** The call fails and nothing happened. */
  readonly throttle: number;
  /** Per effect of a call of many: it fails there, and those that had their turn happened. */
  readonly partial: number;
  /** The call fails after all of it happened. */
  readonly lostReply: number;
  /** The reply is lost, and the client itself sends the request once more: the caller sees the second answer. */
  readonly repeat: number;
  /** Per delivery of a message: it comes a second time. */
  readonly duplicate: number;
  /** Per message sent without a delay: it comes minutes later. */
  readonly late: number;
  /** Per message handled: its deletion does not happen. */
  readonly undeleted: number;
  /** Per send: the sender's next call begins only when the message may have been handled. */
  readonly overtaken: number;
  /** The client gives up on the request, and may send it once more. Some seconds later the first request takes effect all the same. */
  readonly afterwards: number;
  /** The request gets no answer, whether or not it takes effect. Its function ends it when its time for a request is over. */
  readonly hang: number;
  /** Per transaction: another request holds one of its rows. Nothing is written, and the adapter answers that it was not done. */
  readonly conflict: number;
  /** The most that a function's clock is off, either way. */
  readonly skew: Millis;
}

export type FaultKind = Exclude<keyof FaultRates, 'skew'>;

export const NO_FAULTS: FaultRates = {
  crash: 0,
  pause: 0,
  throttle: 0,
  partial: 0,
  lostReply: 0,
  repeat: 0,
  duplicate: 0,
  late: 0,
  undeleted: 0,
  overtaken: 0,
  afterwards: 0,
  hang: 0,
  conflict: 0,
  skew: 0,
};

/** How often each kind of fault happened. */
export type FaultCounts = Record<FaultKind, number>;

export const noFaultCounts = (): FaultCounts => {
  const { skew: _, ...counts } = NO_FAULTS;
  return counts;
};

/** A call that failed; the step that made it fails with it and its message comes back. */
export class InjectedFault extends Error {
  override readonly name = 'InjectedFault';
}
