/** `groupage fleet …`: workers that share partitions: how they stand, drain one, move a partition, separate checkpoints. */
import { Command, Option } from 'commander';
import { groupBy } from '../../../src/util/group-by.ts';
import { WrongUsage } from '../../failure.ts';
import { ago, complain, plural, printable, printJson, red, table } from '../../terminal.ts';
import {
  FLEET,
  FLEET_NODE,
  FLEET_PARTITION,
  FLEETS,
  type FleetNodeShape,
  type FleetPartitionShape,
  type FleetShape,
  PARTITION_MOVED,
} from '../shared/answers.ts';
import type { ApiClient } from '../shared/api-client.ts';
import { somePart } from '../shared/arguments.ts';
import { type CommonOptions, connect } from '../shared/connect.ts';

interface FleetOptions extends CommonOptions {
  readonly table?: string;
}

const someFleet = somePart('the name of a fleet');
const somePartition = somePart('the id of a partition');
const someNode = somePart('the key or the id of a node');

const pathOf = (fleet: string): string => `/fleets/${encodeURIComponent(fleet)}`;

export const fleetCommand = (): Command => {
  const group = new Command('fleet').description('workers that share partitions: how they stand, drain one, move some');
  for (const each of [show(), drain(), move(), separate()])
    group.addCommand(
      each.option('--table <name>', 'use this FleetTable itself, with the credentials and region of the environment'),
    );
  return group.addHelpText(
    'after',
    `
Examples:
  groupage fleet show
  groupage fleet show flights --partitions
  groupage fleet show flights --partition p-12
  groupage fleet drain flights worker-3
  groupage fleet drain flights worker-3 --undo
  groupage fleet move flights p-12 worker-1
  groupage fleet move flights p-12 --free
  groupage fleet separate-checkpoints flights
  groupage fleet show flights --table TheirStack-FleetTable4A611C9B-1C0J8`,
  );
};

/** @throws WrongUsage, CommandFailure */
const reach = async ({ table, ...options }: FleetOptions): Promise<ApiClient> => {
  if (table === undefined) return connect(options);
  if (options.stack !== undefined || options.api !== undefined)
    throw new WrongUsage('--table uses a table itself: leave --stack and --api out');
  // The SDK takes longer to load than a local command takes.
  const { tableApi } = await import('../shared/table-api.ts');
  return tableApi(table);
};

interface ShowOptions extends FleetOptions {
  readonly partitions?: boolean;
  readonly partition?: string;
}

const show = (): Command =>
  new Command('show')
    .description('list the fleets, or show how one stands')
    .argument('[fleet]', "the fleet's name", someFleet)
    .addOption(new Option('--partitions', 'list each partition instead').conflicts('partition'))
    .option('--partition <id>', 'show this partition alone, with its checkpoint', somePartition)
    .action(async (fleet: string | undefined, options: ShowOptions) => {
      if (fleet === undefined) return list(options);
      if (options.partition !== undefined) return showPartition(fleet, options.partition, options);
      const { text, value } = await (await reach(options)).get(pathOf(fleet), FLEET);
      if (options.json) console.log(printJson(text));
      else console.log(options.partitions ? partitionsTable(value) : describeFleet(value));
    });

const showPartition = async (fleet: string, partition: string, options: ShowOptions): Promise<void> => {
  const path = `${pathOf(fleet)}/partitions/${encodeURIComponent(partition)}`;
  const { text, value } = await (await reach(options)).get(path, FLEET_PARTITION);
  console.log(options.json ? printJson(text) : describePartition(value));
};

const list = async (options: ShowOptions): Promise<void> => {
  if (options.partitions) throw new WrongUsage('--partitions needs the name of a fleet');
  if (options.partition !== undefined) throw new WrongUsage('--partition needs the name of a fleet');
  const { text, value } = await (await reach(options)).get('/fleets', FLEETS);
  if (options.json) console.log(printJson(text));
  else if (value.fleets.length === 0) console.log('no fleets yet: no node has joined one');
  else for (const name of value.fleets) console.log(printable(name));
};

const drain = (): Command =>
  new Command('drain')
    .description('let a node give its partitions away, and get no others')
    .argument('<fleet>', "the fleet's name", someFleet)
    .argument('<node>', "the node's key, or its id", someNode)
    .option('--undo', 'let it have partitions again')
    .action(async (fleet: string, node: string, { undo = false, ...options }: FleetOptions & { undo?: boolean }) => {
      const path = `${pathOf(fleet)}/nodes/${encodeURIComponent(node)}/drain`;
      const { text, value } = await (await reach(options)).post(path, JSON.stringify({ draining: !undo }), FLEET_NODE);
      const gives = `gives ${plural(value.partitions, 'partition')} away, each once the work on it has come to an end`;
      const said = undo
        ? 'may have partitions again'
        : value.partitions === 0
          ? 'drains, and has none'
          : `drains: it ${gives}`;
      tell(options, text, `${value.node} ${said}`, value.warning);
    });

const move = (): Command =>
  new Command('move')
    .description('give a partition to a node for as long as that lives, or let it be balanced again')
    .argument('<fleet>', "the fleet's name", someFleet)
    .argument('<partition>', "the partition's id", somePartition)
    .argument('[node]', "the node's key, or its id", someNode)
    .option('--free', 'let it be balanced as all others again')
    .action(
      async (
        fleet: string,
        partition: string,
        node: string | undefined,
        options: FleetOptions & { free?: boolean },
      ) => {
        if ((node === undefined) === (options.free === undefined)) throw new WrongUsage('give either a node or --free');
        const path = `${pathOf(fleet)}/partitions/${encodeURIComponent(partition)}/move`;
        const body = JSON.stringify({ to: node ?? null });
        const { text, value } = await (await reach(options)).post(path, body, PARTITION_MOVED);
        const { id, pin, owner } = value;
        const goes = pin === owner ? `is with ${pin} already, and stays there` : `goes to ${pin}, and stays there`;
        const said = pin === undefined ? 'is balanced as all others again' : `${goes} for as long as that lives`;
        tell(options, text, `${id} ${said}`, value.warning);
      },
    );

const separate = (): Command =>
  new Command('separate-checkpoints')
    .description(
      'store checkpoints in rows of their own: run it once no worker of 0.2.0 will come back, since such workers then refuse to work in this fleet',
    )
    .argument('<fleet>', "the fleet's name", someFleet)
    .action(async (fleet: string, options: FleetOptions) => {
      const { text } = await (await reach(options)).post(`${pathOf(fleet)}/separate-checkpoints`, '', FLEET);
      const said = `checkpoints of ${fleet} get rows of their own, each when its partition changes hands: at the next restart of its workers`;
      tell(options, text, said, undefined);
    });

const tell = ({ json }: CommonOptions, text: string, said: string, warning: string | undefined): void => {
  console.log(json ? printJson(text) : printable(said));
  if (warning !== undefined) complain([warning]);
};

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
const partitionsTable = ({ partitions }: Pick<FleetShape, 'partitions'>, now = Date.now()): string =>
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
