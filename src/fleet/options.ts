/** What `runFleet` takes, and what is wrong with it. */
import { constants } from 'node:os';
import type { FleetEvent } from '../domain/fleets/events.ts';
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

export interface FleetOptions {
  /** All that work together name the same. */
  readonly fleet: string;
  /** The name of a `FleetTable`, or how else it is reached. */
  readonly table: string | TableAt;
  /**
   * What is shared: so many partitions (`0`, `1`, …), or these. With weights, loads are balanced and not numbers: whole
   * numbers from 1 to 1,000,000, the same in every node.
   */
  readonly partitions: number | readonly (string | { readonly id: string; readonly weight: number })[];
  /**
   * Works on a partition for as long as it is this node's: until `partition.signal` aborts. Is called again after it threw
   * (after 1 s, up to 60 s), and when the partition comes back.
   */
  readonly onPartition: (partition: Partition) => Promise<void>;
  /** Ends it: everything is drained and given away. */
  readonly signal?: AbortSignal;
  /** What people call this node. @default - host name and process id */
  readonly node?: string;
  /** How long what runs may take to end, once all is to be given away, in ms. @default 20000 */
  readonly drainTimeout?: Millis;
  /** Who blocks the event loop for longer than that loses its partitions, in ms: a cycle or more, 1,000 at least. @default 60000 */
  readonly maxBlocked?: Millis;
  /** How often a node beats and looks, in ms: 200 to 60,000. Who is silent for six of them is dead. @default 5000 */
  readonly cycle?: Millis;
  /** Signals of the process that end it, too. @default - SIGTERM and SIGINT */
  readonly stopOn?: readonly NodeJS.Signals[];
  /** Is told what happens. @default - what goes wrong is written to the standard error, as JSON lines */
  readonly onEvent?: (event: FleetEvent) => void;
}

/** Options that can't be: each of them, and why. */
export class InvalidFleetOptions extends TypeError {
  override readonly name = 'InvalidFleetOptions';
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(`the options of runFleet are wrong: ${problems.join('; ')}`);
    this.problems = problems;
  }
}

const PARTITIONS_MAX = 4_096;

const isSpan = (value: unknown, least: Millis, most: Millis): boolean =>
  typeof value === 'number' && Number.isFinite(value) && value >= least && value <= most;

const spanProblem = (name: string, value: unknown, least: Millis, most: Millis): string[] =>
  isSpan(value, least, most) ? [] : [`${name} must be a number of ms from ${least} to ${most}`];

const isAborting = (value: unknown): boolean => value === undefined || value instanceof AbortSignal;

/** Of the process's, those that can be heard. */
const areSignals = (value: unknown): boolean =>
  Array.isArray(value) &&
  value.every((name) => Object.hasOwn(constants.signals, name) && name !== 'SIGKILL' && name !== 'SIGSTOP');

/** Who is blocked and given nothing is not yet given up. */
const maxBlockedLeast = (cycle: unknown): Millis => blockedAfter(isSpan(cycle, 200, 60_000) ? (cycle as Millis) : 0);

/** @throws InvalidFleetOptions */
export const checkedOptions = (options: FleetOptions) => {
  const { drainTimeout = 20_000, maxBlocked = 60_000, cycle = CYCLE, table, node = '' } = options;
  const fleet = fleetName(options.fleet);
  const id = nodeId(node);
  const shares = sharesOf(options.partitions);
  const problems = [
    ...(fleet === undefined ? [`fleet ${FLEET_NAME_RULE}`] : []),
    ...(id === undefined ? [`node ${NODE_ID_RULE}`] : []),
    ...('problems' in shares ? shares.problems : []),
    ...(typeof options.onPartition === 'function' ? [] : ['onPartition must be a function']),
    ...(isAborting(options.signal) ? [] : ['signal must be an AbortSignal']),
    ...(areSignals(options.stopOn ?? []) ? [] : ['stopOn must be a list of signals that a process can hear']),
    ...((typeof table === 'string' ? table : table?.table) ? [] : ['table must be the name of a FleetTable']),
    ...spanProblem('drainTimeout', drainTimeout, 0, 86_400_000),
    ...spanProblem('cycle', cycle, 200, 60_000),
    ...spanProblem('maxBlocked', maxBlocked, maxBlockedLeast(cycle), 86_400_000),
  ];
  if (fleet === undefined || id === undefined || 'problems' in shares || problems.length > 0)
    throw new InvalidFleetOptions(problems);
  const at: TableAt = typeof table === 'string' ? { table } : table;
  return { fleet, id, at, drainTimeout, maxBlocked, cycle, ...shares };
};

const sharesOf = (
  partitions: FleetOptions['partitions'],
): { readonly shares: readonly Share[] } | { readonly problems: readonly string[] } => {
  const count = Array.isArray(partitions) ? partitions.length : (partitions as number);
  if (!Number.isInteger(count) || count < 1 || count > PARTITIONS_MAX)
    return { problems: [`partitions must be 1 to ${PARTITIONS_MAX}: a number of them, or a list`] };
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
    if (isTwice) return [`partitions[${index}] is there twice: ${partition}`];
    return Number.isInteger(weight) && weight >= 1 && weight <= WEIGHT_MAX
      ? []
      : [`partitions[${index}].weight must be a whole number from 1 to ${WEIGHT_MAX}`];
  });
  return problems.length > 0 ? { problems } : { shares };
};
