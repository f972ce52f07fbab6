/** The rows of the operations table. Pure. */

import type { Operation } from '../../../../../src/api/operations/responses.ts';
import type { TargetPage } from '../../../../../src/api/targets/responses.ts';
import type { MetricsView, OperationTotals } from '../../../server/shapes.ts';
import { perMinute } from './series.ts';
import type { State } from './words.ts';

interface Waiting {
  readonly tasks: number;
  /** Whether the true number may be larger. This is so if not all Targets, or not all tasks of a Target, were read. */
  readonly isAtLeast: boolean;
}

export interface OperationRow {
  readonly operation: string;
  readonly state: State;
  readonly slots: { readonly taken: number; readonly total: number } | undefined;
  /** The tasks in batches under way. */
  readonly underWay: Operation['underWay'];
  /** Undefined if no Targets of the operation were read. */
  readonly waiting: Waiting | undefined;
  /** Tasks per minute. */
  readonly rates: { readonly registered: number; readonly ended: number } | undefined;
  readonly totals: OperationTotals | undefined;
  /**
   * The share of calls that batching saved, compared with one call for each task. Undefined before any task has ended.
   */
  readonly savedShare: number | undefined;
}

/**
 * Whether Targets wait while all slots are taken. If a slot is free, the message that wakes a Target is already on its
 * way.
 */
export const isFull = ({ waitingTargets, slots }: Pick<Operation, 'waitingTargets' | 'slots'>): boolean =>
  waitingTargets > 0 && (slots === undefined || slots.taken >= slots.total);

export const operationState = ({
  paused,
  circuit,
  waitingTargets,
  slots,
  underWay,
}: Pick<Operation, 'paused' | 'circuit' | 'waitingTargets' | 'slots' | 'underWay'>): State => {
  if (circuit === 'open') return { tone: 'bad', word: 'circuit open' };
  if (paused) return { tone: 'warn', word: 'paused' };
  if (circuit === 'half-open') return { tone: 'warn', word: 'half open' };
  if (underWay && underWay.retried > 0) return { tone: 'warn', word: 'retrying' };
  return isFull({ waitingTargets, slots }) ? { tone: 'warn', word: 'no free slot' } : { tone: 'ok', word: 'working' };
};

const waitingIn = ({ targets, cursor }: TargetPage): Waiting => ({
  tasks: targets.reduce((sum, { waiting }) => sum + waiting, 0),
  isAtLeast: cursor !== undefined || targets.some(({ waitingIsAtLeast }) => waitingIsAtLeast === true),
});

/** @param targets for each operation whose Targets were read, the first page of them. */
export const operationRows = (
  operations: readonly Operation[],
  targets: ReadonlyMap<string, TargetPage>,
  metrics: MetricsView | undefined,
): readonly OperationRow[] =>
  operations.map((each) => {
    const of = { operation: each.operation };
    const totals = metrics?.totals.operations.find(({ operation }) => operation === each.operation);
    const waiting = targets.get(each.operation);
    return {
      operation: each.operation,
      state: operationState(each),
      slots: each.slots,
      underWay: each.underWay,
      waiting: waiting && waitingIn(waiting),
      rates: metrics && {
        registered: perMinute(metrics, 'TasksRegistered', of),
        ended: perMinute(metrics, 'TasksSucceeded', of) + perMinute(metrics, 'TasksFailed', of),
      },
      totals,
      savedShare: totals && savedShare(totals),
    };
  });

const savedShare = ({ tasksSucceeded, tasksFailed, callsSaved }: OperationTotals): number | undefined => {
  const ended = tasksSucceeded + tasksFailed;
  return ended === 0 ? undefined : callsSaved / ended;
};
