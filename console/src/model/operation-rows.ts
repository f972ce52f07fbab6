/** What is said of each operation. Pure. */
import type { MetricsView, OperationTotals } from '../../../src/console/shapes.ts';
import { perMinute } from './series.ts';
import type { OperationShape, TargetShape } from './shapes.ts';
import type { State } from './words.ts';

export interface OperationRow {
  readonly operation: string;
  readonly state: State;
  readonly slots: { readonly taken: number; readonly total: number } | undefined;
  /** Tasks in the Targets that were looked at. */
  readonly waiting: number | undefined;
  /** A minute. */
  readonly rates: { readonly registered: number; readonly ended: number } | undefined;
  readonly totals: OperationTotals | undefined;
  /** Of the calls that one per task would have been; undefined before any has ended. */
  readonly savedShare: number | undefined;
}

/** Targets wait, and there is no slot: where there is one, a message that says so is on its way. */
export const isFull = ({ waitingTargets, slots }: Pick<OperationShape, 'waitingTargets' | 'slots'>): boolean =>
  waitingTargets > 0 && (slots === undefined || slots.taken >= slots.total);

export const operationState = ({
  paused,
  circuit,
  waitingTargets,
  slots,
}: Pick<OperationShape, 'paused' | 'circuit' | 'waitingTargets' | 'slots'>): State => {
  if (circuit === 'open') return { tone: 'bad', word: 'circuit open' };
  if (paused) return { tone: 'warn', word: 'paused' };
  if (circuit === 'half-open') return { tone: 'warn', word: 'half open' };
  return isFull({ waitingTargets, slots }) ? { tone: 'warn', word: 'no room' } : { tone: 'ok', word: 'working' };
};

export const operationRows = (
  operations: readonly OperationShape[],
  targets: readonly TargetShape[] | undefined,
  metrics: MetricsView | undefined,
): readonly OperationRow[] =>
  operations.map((each) => {
    const of = { operation: each.operation };
    const totals = metrics?.totals.operations.find(({ operation }) => operation === each.operation);
    const waiting = targets
      ?.filter(({ operation }) => operation === each.operation)
      .reduce((sum, target) => sum + target.waiting, 0);
    return {
      operation: each.operation,
      state: operationState(each),
      slots: each.slots,
      waiting,
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
