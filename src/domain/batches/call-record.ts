/**
 * The calls of a batch, as its row records them. They are stored with the writes that end an attempt, so they cost no
 * write of their own. If a function dies before such a write, the calls of its attempt are only in the log.
 */
import { type Answer, type Reason, reasonIn } from '../downstream/downstream.ts';
import type { Millis, TaskId } from '../ids.ts';

/** One call of the downstream. */
export interface CallRecord extends Reason {
  /** The attempt that made the call. */
  readonly attempt: number;
  readonly at: Millis;
  readonly took: Millis;
  /** Whether the call failed. An answer about single items is no failure. */
  readonly isError: boolean;
  /** How many tasks the call contained. */
  readonly items: number;
  /**
   * Which members the call contained, by their numbers in the batch, such as `1-50,53`. Absent if it contained all
   * members.
   */
  readonly members?: string;
}

/** How many calls a batch's row keeps: the last ones. Each write of the row pays for all of them. */
export const CALLS_KEPT = 20;
/** Most characters of a reason, of a quote, and of the numbers of members. */
const [REASON_MAX, QUOTE_MAX, MEMBERS_MAX] = [160, 100, 60];

/** The record of a call. @param members all members of the batch, in their order. */
export const callRecord = (
  call: Pick<CallRecord, 'attempt' | 'at' | 'took'>,
  answer: Answer,
  items: readonly TaskId[],
  members: readonly TaskId[],
): CallRecord => {
  const { reason, quote } = reasonIn(answer);
  return {
    ...call,
    isError: isFailure(answer),
    reason: shortened(reason, REASON_MAX),
    ...(quote === undefined ? {} : { quote: shortened(quote, QUOTE_MAX) }),
    items: items.length,
    ...(items.length === members.length ? {} : { members: rangesOf(items, members) }),
  };
};

/** Whether a call failed. An answer about single items is no failure. */
export const isFailure = ({ kind }: Answer): boolean => kind === 'refused' || kind === 'unavailable';

/** The calls to store after more calls were made. */
export const lastCalls = (
  stored: readonly CallRecord[] = [],
  made: readonly CallRecord[] = [],
): readonly CallRecord[] => [...stored, ...made].slice(-CALLS_KEPT);

/** A text of at most `most` characters. DynamoDB cannot store half a surrogate pair. */
export const shortened = (text: string, most: number): string =>
  text.length <= most ? text : `${text.slice(0, most - 1).toWellFormed()}…`;

/** The numbers of the items among the members, from 1, as ranges. Many ranges are cut short. */
const rangesOf = (items: readonly TaskId[], members: readonly TaskId[]): string => {
  const numbers = new Map(members.map((id, index) => [id, index + 1]));
  const own = items.flatMap((id) => numbers.get(id) ?? []).toSorted((a, b) => a - b);
  const ranges: string[] = [];
  for (let from = 0, to = 0; from < own.length; from = to) {
    for (to = from + 1; to < own.length && own[to] === (own[to - 1] ?? 0) + 1; ) to += 1;
    ranges.push(to - from === 1 ? `${own[from]}` : `${own[from]}-${own[to - 1]}`);
    if (ranges.join().length > MEMBERS_MAX) return `${ranges.slice(0, -1).join()},…`;
  }
  return ranges.join();
};
