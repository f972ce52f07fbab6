/** The calls of a batch, for the waterfall and for the steps of a task. Pure. */
import type { Batch } from '../../../../../src/api/batches/responses.ts';

export type Call = NonNullable<Batch['calls']>[number];

/** A call with its place in the waterfall, as shares of the time between the first call's start and the last one's end. */
export interface Bar {
  readonly call: Call;
  readonly from: number;
  readonly width: number;
}

/** Smallest width of a bar, so that a short call can be seen. */
const WIDTH_MIN = 0.01;

/**
 * The calls as bars. Pauses between attempts may be a thousand times as long as calls, so the bars of each attempt are
 * drawn on a scale of their own.
 */
export const waterfall = (
  calls: readonly Call[],
): readonly { readonly attempt: number; readonly bars: readonly Bar[] }[] =>
  [...Map.groupBy(calls, ({ attempt }) => attempt)].map(([attempt, own]) => {
    const begun = Math.min(...own.map(startOf));
    const span = Math.max(1, Math.max(...own.map((call) => startOf(call) + call.tookMs)) - begun);
    const bars = own.map((call) => {
      const width = Math.min(1, Math.max(WIDTH_MIN, call.tookMs / span));
      return { call, from: Math.min((startOf(call) - begun) / span, 1 - width), width };
    });
    return { attempt, bars };
  });

const startOf = ({ startedAt }: Call): number => Date.parse(startedAt);

/** Whether a call contained the member with this place, from 1. True if the call's members are not known exactly. */
export const contains = ({ members }: Call, place: number): boolean =>
  members === undefined ||
  members.split(',').some((range) => {
    if (range === '…') return true;
    const [from = 0, to = from] = range.split('-').map(Number);
    return place >= from && place <= to;
  });

/** The two numbers at the end of a batch id: of the leader that opened the batch, and of the batch within its Target. */
export const numbersOf = (id: string): { readonly leader: string; readonly round: string } => {
  const [leader = '', round = ''] = id.split('#').slice(-2);
  return { leader, round };
};
