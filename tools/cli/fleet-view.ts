/** Prints fleets for people. */
import { groupBy } from '../../src/util/group-by.ts';
import type { FleetNodeShape, FleetPartitionShape, FleetShape } from '../shapes.ts';
import { ago, plural, printable, red, table } from '../terminal.ts';

/** As many names of partitions as anybody reads of a node. */
const NAMES_SHOWN = 12;

/** Nodes, what each of them has, and what is not as it should be. */
export const describeFleet = (fleet: FleetShape, now = Date.now()): string => {
  const { nodes, partitions } = fleet;
  const all = `${plural(nodes.length, 'node')}, ${plural(partitions.length, 'partition')}`;
  const owners = [...groupBy(partitions, ({ owner }) => owner)].flatMap(([owner, its]) =>
    owner === undefined ? [] : [`${printable(owner)}: ${names(its)}`],
  );
  return [
    `${printable(fleet.id)}: ${all}`,
    ...(nodes.length > 0 ? ['', nodesTable(nodes, now)] : []),
    ...(owners.length > 0 ? ['', ...owners.toSorted()] : []),
    ...withGap(remarks(fleet, now)),
  ].join('\n');
};

const withGap = (lines: readonly string[]): string[] => (lines.length > 0 ? ['', ...lines] : []);

const nodesTable = (nodes: readonly FleetNodeShape[], now: number): string =>
  table(
    ['NODE', 'STATUS', 'PARTITIONS', 'LAST HEARTBEAT', 'TTL', 'BEGAN'],
    nodes.map((node) => [
      node.node,
      isSilent(node, now) ? `${node.status}, silent` : node.status,
      node.partitions,
      `${ago(node.lastBeatAt, now)} ago`,
      `${node.ttlSeconds} s`,
      `${ago(node.startedAt, now)} ago`,
    ]),
  );

/** As far as this machine's clock and the node's agree. */
const isSilent = ({ status, lastBeatAt, ttlSeconds }: FleetNodeShape, now: number): boolean =>
  status !== 'evicted' && now - Date.parse(lastBeatAt) > ttlSeconds * 1_000;

const names = (partitions: readonly FleetPartitionShape[]): string => {
  const rest = partitions.length - NAMES_SHOWN;
  const shown = partitions.slice(0, NAMES_SHOWN).map(({ id }) => printable(id));
  return `${shown.join(' ')}${rest > 0 ? ` … and ${rest.toLocaleString('en')} more` : ''}`;
};

/** How to read what is not at rest. */
const remarks = ({ nodes, partitions }: FleetShape, now: number): string[] => {
  const free = partitions.filter(({ status }) => status === 'free');
  const asked = partitions.filter(({ status }) => status === 'asked');
  // Those whose node is gone are balanced again.
  const living = new Set(nodes.flatMap(({ node, status }) => (status === 'evicted' ? [] : [node])));
  const pinned = partitions.filter(({ pin }) => pin !== undefined && living.has(pin));
  const works = nodes.some(({ status }) => status === 'working');
  const why = works
    ? 'nobody works on them until a node takes them: in a few cycles, if one that works has them in its configuration'
    : 'nobody works on them, and no node takes any: start one, or `groupage fleet drain FLEET NODE --undo`';
  return [
    ...(free.length > 0 ? [`${red(`free: ${names(free)}`)}`, `  (${why})`] : []),
    ...(asked.length > 0 ? [`about to move: ${names(asked)}`, '  (each once the work on it has come to an end)'] : []),
    ...(pinned.length > 0
      ? [
          `moved by hand: ${names(pinned)}`,
          '  (`groupage fleet move FLEET PARTITION --free` lets one be balanced again)',
        ]
      : []),
    ...(nodes.some((node) => isSilent(node, now))
      ? [
          'silent: no heartbeat for longer than its TTL; the others evict it and take what it has, if their clocks agree',
        ]
      : []),
  ];
};

/** One partition, and the whole of its checkpoint. */
export const describePartition = (partition: FleetPartitionShape, now = Date.now()): string =>
  [
    partitionsTable({ partitions: [partition] }, now),
    '',
    partition.checkpoint === undefined ? 'no checkpoint yet' : `checkpoint: ${printable(partition.checkpoint)}`,
  ].join('\n');

/** A line for each partition. */
export const partitionsTable = ({ partitions }: Pick<FleetShape, 'partitions'>, now = Date.now()): string =>
  table(
    ['PARTITION', 'STATUS', 'OWNER', 'SINCE', 'FENCE', 'NEXT', 'MOVED TO'],
    partitions.map(({ id, status, owner, lastOwner, since, fence, next, pin }) => [
      id,
      status,
      owner ?? (lastOwner === undefined ? '' : `(${lastOwner})`),
      since === undefined ? '' : `${ago(since, now)} ago`,
      fence,
      next ?? '',
      pin ?? '',
    ]),
  );
