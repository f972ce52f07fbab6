/** Time spans in whole minutes. Pure. */
import type { Millis } from '../../../src/domain/ids.ts';
import { MINUTE } from '../../../src/domain/timings.ts';

/** A time span, in whole minutes since the epoch, in milliseconds. */
export interface Span {
  readonly from: Millis;
  readonly until: Millis;
}

/** The whole minutes around a time span: CloudWatch has values for minutes. */
export const minutesAround = (from: Millis, until: Millis): Span => ({
  from: Math.floor(from / MINUTE) * MINUTE,
  until: Math.ceil((until + 1) / MINUTE) * MINUTE,
});
