/** The kinds of faults, their rates, and their counts. */
import type { Millis } from '../domain/ids.ts';

/** Probabilities of faults, per call on a port unless stated otherwise. */
export interface FaultRates {
  /** The function dies before the call, between two effects of the call, or after the effects. */
  readonly crash: number;
  /** The function stands still for longer than a lease, and then continues. */
  readonly pause: number;
  /** The call fails without any effect. */
  readonly throttle: number;
  /**
   * Per effect of a call with several effects: the call fails before this effect. The earlier effects have happened.
   */
  readonly partial: number;
  /** The call fails after all its effects have happened. */
  readonly lostReply: number;
  /** The reply is lost and the client repeats the request. The caller sees only the second answer. */
  readonly repeat: number;
  /** Per delivery of a message: the message is delivered once more. */
  readonly duplicate: number;
  /** Per message sent without a delay: the message arrives minutes later. */
  readonly late: number;
  /** Per message handled: the message is not deleted. */
  readonly undeleted: number;
  /**
   * Per message sent: the sender's next call begins only when another function may have handled the message already.
   */
  readonly overtaken: number;
  /** The client gives up on a request and may repeat it. The first request takes effect some seconds later. */
  readonly afterwards: number;
  /** The request gets no answer, although it may take effect. The function aborts the request at its time limit. */
  readonly hang: number;
  /**
   * Per transaction: a concurrent request holds one of the transaction's rows. Nothing is written, and the adapter
   * reports that.
   */
  readonly conflict: number;
  /** The largest deviation of a function's clock from the real time, in ms. A clock may be ahead or behind. */
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

/** How often each kind of fault occurred. */
export type FaultCounts = Record<FaultKind, number>;

export const noFaultCounts = (): FaultCounts => {
  const { skew: _, ...counts } = NO_FAULTS;
  return counts;
};

/** A call that failed because of an injected fault. The step fails with it, and its message is delivered again. */
export class InjectedFault extends Error {
  override readonly name = 'InjectedFault';
}
