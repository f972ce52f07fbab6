/** The options of `runFleet`, and their checks. */
import { constants } from 'node:os';
import type { FleetEvent, WhenFinished } from '../domain/fleets/events.ts';
import { type Share, WEIGHT_MAX } from '../domain/fleets/fleet.ts';
import {
  FLEET_NAME_RULE,
  fleetName,
  NODE_ID_RULE,
  nodeId,
  type PartitionId,
  partitionId,
} from '../domain/fleets/ids.ts';
import { blockedAfter, CYCLE } from '../domain/fleets/timings.ts';
import type { Millis } from '../domain/ids.ts';
import type { Partition } from './partition.ts';
import type { TableAt } from './table-at.ts';

/** Options of `runFleet`. */
export interface FleetOptions {
  /** Name of the fleet. All nodes that share partitions use the same name. */
  readonly fleet: string;
  /** Name of the `FleetTable`, or its address. */
  readonly table: string | TableAt;
  /**
   * The partitions to share: their number (the ids are then `0`, `1`, …), or their ids. With weights, nodes balance the
   * sum of weights instead of the number of partitions. Weights are whole numbers from 1 to 1,000,000 and must be the
   * same in every node.
   */
  readonly partitions: number | readonly (string | { readonly id: string; readonly weight: number })[];
  /**
   * Works on a partition while this node owns the partition, until `partition.signal` aborts. `onPartition` is called
   * again after it threw an error (after a pause of 1 s, growing to 60 s), and when this node owns the partition again.
   */
  readonly onPartition: (partition: Partition) => Promise<void>;
  /**
   * What happens to a partition when `onPartition` returns although `partition.signal` has not aborted: `keep`,
   * `release` or `again` ({@link WhenFinished}). The event `finished` reports it in each case.
   * @default 'keep'
   */
  readonly whenFinished?: WhenFinished;
  /**
   * When this signal aborts, the node announces that it leaves, and works on until others ask for its partitions (two
   * cycles at most). Then it drains them, hands them over and leaves the fleet. With `restartWithin` it drains at once
   * and keeps them for the next process with its name.
   */
  readonly signal?: AbortSignal;
  /**
   * Name of this node, for people.
   * @default - host name and process id
   */
  readonly node?: string;
  /**
   * Longest time that running work may take to end when the node leaves the fleet, in milliseconds: 0 to 86,400,000.
   * @default 20000
   */
  readonly drainTimeout?: Millis;
  /**
   * Keeps the partitions of a stopped process for the next process with the same `node` name, in milliseconds: 0 (off),
   * or from six cycles to 3,600,000. If that process starts in time, it gets exactly these partitions, and no other
   * moves. Otherwise other nodes take them. While it is set, a name belongs to one process at a time ({@link
   * NodeNameTaken}).
   * @default 0
   */
  readonly restartWithin?: Millis;
  /**
   * Longest time for which the event loop may be blocked, in milliseconds: at least one cycle and at least 1,000. A
   * node that is blocked for longer loses its partitions.
   * @default 60000
   */
  readonly maxBlocked?: Millis;
  /**
   * Interval between two heartbeats and between two reads of the fleet, in milliseconds: 200 to 60,000. A node without
   * a heartbeat for six cycles counts as dead.
   * @default 5000
   */
  readonly cycle?: Millis;
  /**
   * `emf`: once a minute, the node writes its metrics to standard output as a JSON line in CloudWatch's embedded metric
   * format, in the namespace `Groupage` with the dimension `fleet`. The log must reach CloudWatch Logs line by line.
   * @default - no metrics
   */
  readonly metrics?: 'emf';
  /** Signals of the process that make the node leave the fleet, like `signal`. @default - SIGTERM and SIGINT */
  readonly stopOn?: readonly NodeJS.Signals[];
  /**
   * Called with each event.
   * @default - problems are written to standard error as JSON lines
   */
  readonly onEvent?: (event: FleetEvent) => void;
}

/** Invalid options. `problems` has a sentence for each invalid option. */
export class InvalidFleetOptions extends TypeError {
  override readonly name = 'InvalidFleetOptions';
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(`the options of runFleet are invalid: ${problems.join('; ')}`);
    this.problems = problems;
  }
}

const WHEN_FINISHED: ReadonlySet<WhenFinished> = new Set(['keep', 'release', 'again']);

const PARTITIONS_MAX = 4_096;

const isSpan = (value: unknown, least: Millis, most: Millis): boolean =>
  typeof value === 'number' && Number.isFinite(value) && value >= least && value <= most;

const spanProblem = (name: string, value: unknown, least: Millis, most: Millis): string[] =>
  isSpan(value, least, most) ? [] : [`${name} must be a number of ms from ${least} to ${most}`];

const isAborting = (value: unknown): boolean => value === undefined || value instanceof AbortSignal;

/** Whether a value is a list of names of signals that a process can listen to. */
const areSignals = (value: unknown): boolean =>
  Array.isArray(value) &&
  value.every((name) => Object.hasOwn(constants.signals, name) && name !== 'SIGKILL' && name !== 'SIGSTOP');

/** The least valid `maxBlocked`: the time after which a blocked node gets no more partitions. */
const maxBlockedLeast = (cycle: unknown): Millis => blockedAfter(isSpan(cycle, 200, 60_000) ? (cycle as Millis) : 0);

/**
 * A shorter time than six cycles would have no use: the other nodes need several reads before they take partitions. The
 * default name of a node has the process id, so no later process has it.
 */
const restartProblems = ({ restartWithin = 0, cycle = CYCLE, node }: FleetOptions): string[] => {
  if (restartWithin === 0) return [];
  return [
    ...(isSpan(restartWithin, 6 * cycle, 3_600_000)
      ? []
      : [`restartWithin must be 0 or a number of ms from six cycles (${6 * cycle}) to 3600000`]),
    ...(node === undefined ? ['restartWithin needs a node name that the next process has too'] : []),
  ];
};

/** @throws InvalidFleetOptions */
export const checkedOptions = (options: FleetOptions, usualName: () => string = () => '') => {
  const { drainTimeout = 20_000, maxBlocked = 60_000, cycle = CYCLE, restartWithin = 0, table } = options;
  const { whenFinished = 'keep', metrics } = options;
  const { node = usualName() } = options;
  const fleet = fleetName(options.fleet);
  const id = nodeId(node);
  const shares = sharesOf(options.partitions);
  const problems = [
    ...(fleet === undefined ? [`fleet ${FLEET_NAME_RULE}`] : []),
    ...(id === undefined ? [`node ${NODE_ID_RULE}`] : []),
    ...('problems' in shares ? shares.problems : []),
    ...(typeof options.onPartition === 'function' ? [] : ['onPartition must be a function']),
    ...(isAborting(options.signal) ? [] : ['signal must be an AbortSignal']),
    ...(areSignals(options.stopOn ?? []) ? [] : ['stopOn must be a list of signals that a process can listen to']),
    ...((typeof table === 'string' ? table : table?.table)
      ? []
      : ['table must be the name of a FleetTable, or its address']),
    ...(WHEN_FINISHED.has(whenFinished) ? [] : [`whenFinished must be one of ${[...WHEN_FINISHED].join(', ')}`]),
    ...(metrics === undefined || metrics === 'emf' ? [] : ["metrics must be 'emf', or absent"]),
    ...spanProblem('drainTimeout', drainTimeout, 0, 86_400_000),
    ...spanProblem('cycle', cycle, 200, 60_000),
    ...restartProblems(options),
    ...spanProblem('maxBlocked', maxBlocked, maxBlockedLeast(cycle), 86_400_000),
  ];
  if (fleet === undefined || id === undefined || 'problems' in shares || problems.length > 0)
    throw new InvalidFleetOptions(problems);
  const at: TableAt = typeof table === 'string' ? { table } : table;
  return {
    fleet,
    id,
    at,
    drainTimeout,
    maxBlocked,
    cycle,
    restartWithin,
    whenFinished,
    measures: metrics === 'emf',
    ...shares,
  };
};

const sharesOf = (
  partitions: FleetOptions['partitions'],
): { readonly shares: readonly Share[] } | { readonly problems: readonly string[] } => {
  const count = Array.isArray(partitions) ? partitions.length : (partitions as number);
  if (!Number.isInteger(count) || count < 1 || count > PARTITIONS_MAX)
    return {
      problems: [`partitions must be a number from 1 to ${PARTITIONS_MAX}, or a list of 1 to ${PARTITIONS_MAX} ids`],
    };
  const given = typeof partitions === 'number' ? Array.from({ length: count }, (_, index) => `${index}`) : partitions;
  const shares = given.map((each) => {
    const { id, weight } = typeof each === 'string' ? { id: each, weight: 1 } : { ...each };
    return { partition: id as PartitionId, weight };
  });
  const seen = new Set<string>();
  const problems = shares.flatMap(({ partition, weight }, index): string[] => {
    const isTwice = seen.has(partition);
    seen.add(partition);
    if (partitionId(partition) === undefined) return [`partitions[${index}] ${FLEET_NAME_RULE}`];
    if (isTwice) return [`partitions[${index}] is a duplicate: ${partition}`];
    return Number.isInteger(weight) && weight >= 1 && weight <= WEIGHT_MAX
      ? []
      : [`partitions[${index}].weight must be a whole number from 1 to ${WEIGHT_MAX}`];
  });
  return problems.length > 0 ? { problems } : { shares };
};
