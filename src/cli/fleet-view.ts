/** Prints fleets for people. */
import { groupBy } from '../group-by.ts';
import { ago, plural, printable, red, table } from './output.ts';
import type { FleetNodeShape, FleetPartitionShape, FleetShape } from './shapes.ts';

/** As many names of partitions as anybody reads of a node. */
const NAMES_SHOWN = 12;
/** Characters of a checkpoint: a place to go on from, not for people. */
const CHECKPOINT_SHOWN = 40;

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

/** A line for each partition. */
export const partitionsTable = ({ partitions }: FleetShape, now = Date.now()): string =>
  table(
    ['PARTITION', 'STATUS', 'OWNER', 'SINCE', 'FENCE', 'NEXT', 'MOVED TO', 'CHECKPOINT'],
    partitions.map(({ id, status, owner, lastOwner, since, fence, next, pin, checkpoint }) => [
      id,
      status,
      owner ?? (lastOwner === undefined ? '' : `(${lastOwner})`),
      since === undefined ? '' : `${ago(since, now)} ago`,
      fence,
      next ?? '',
      pin ?? '',
      shortened(checkpoint),
    ]),
  );

const shortened = (text = ''): string =>
  text.length > CHECKPOINT_SHOWN ? `${text.slice(0, CHECKPOINT_SHOWN - 1)}…` : text;
