/** `groupage fleet …`: shows fleets, drains nodes, moves partitions and separates checkpoints. */
import { Command, Option } from 'commander';
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
import { type CommonOptions, connectBecause, reasonOption, type WithReason } from '../shared/connect.ts';
import { fleetWorker } from './fleet-worker.ts';

interface FleetOptions extends WithReason {
  readonly table?: string;
}

const someFleet = somePart('the name of a fleet');
const somePartition = somePart('the id of a partition');
const someNode = somePart('the key or id of a node');

const pathOf = (fleet: string): string => `/fleets/${encodeURIComponent(fleet)}`;

export const fleetCommand = (): Command => {
  const group = new Command('fleet').description(
    'show fleets (workers that share partitions), drain nodes, and move partitions',
  );
  for (const each of [show(), drain(), move(), separate(), fleetWorker()])
    group.addCommand(
      each.option(
        '--table <name>',
        'use this FleetTable directly, with the AWS credentials and region of the environment',
      ),
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
  groupage fleet worker flights --partitions 64 -- python3 worker.py
  groupage fleet show flights --table TheirStack-FleetTable4A611C9B-1C0J8`,
  );
};

/** @throws WrongUsage, CommandFailure */
const reach = async ({ table, ...options }: FleetOptions): Promise<ApiClient> => {
  if (table === undefined) return connectBecause(options);
  if (options.reason !== undefined)
    throw new WrongUsage('--reason needs the API of a stack: a table of your own has no audit trail');
  if (options.stack !== undefined || options.api !== undefined)
    throw new WrongUsage('--table cannot be combined with --stack or --api');
  // Load the SDK only here: loading takes longer than a whole local command.
  const { tableApi } = await import('../shared/table-api.ts');
  return tableApi(table);
};

interface ShowOptions extends FleetOptions {
  readonly partitions?: boolean;
  readonly partition?: string;
}

const show = (): Command =>
  new Command('show')
    .description('list the fleets, or show the nodes and partitions of one')
    .argument('[fleet]', 'name of the fleet', someFleet)
    .addOption(new Option('--partitions', 'list its partitions instead').conflicts('partition'))
    .option('--partition <id>', 'show only this partition, with its checkpoint', somePartition)
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
  else if (value.fleets.length === 0) console.log('there are no fleets yet, because no node has joined one');
  else for (const name of value.fleets) console.log(printable(name));
};

const drain = (): Command =>
  new Command('drain')
    .description('drain a node: it gives its partitions to other nodes and takes no new ones')
    .argument('<fleet>', 'name of the fleet', someFleet)
    .argument('<node>', 'key or id of the node', someNode)
    .option('--undo', 'end the drain: the node may take partitions again')
    .addOption(reasonOption())
    .action(async (fleet: string, node: string, { undo = false, ...options }: FleetOptions & { undo?: boolean }) => {
      const path = `${pathOf(fleet)}/nodes/${encodeURIComponent(node)}/drain`;
      const { text, value } = await (await reach(options)).post(path, JSON.stringify({ draining: !undo }), FLEET_NODE);
      const gives = `gives away ${plural(value.partitions, 'partition')}, each after the current work on the partition has ended`;
      const said = undo
        ? 'may take partitions again'
        : value.partitions === 0
          ? 'is draining and has no partitions'
          : `is draining: it ${gives}`;
      tell(options, text, `${value.node} ${said}`, value.warning);
    });

const move = (): Command =>
  new Command('move')
    .description('pin a partition to a node until the node stops, or return it to automatic balancing')
    .argument('<fleet>', 'name of the fleet', someFleet)
    .argument('<partition>', 'id of the partition', somePartition)
    .argument('[node]', 'key or id of the node', someNode)
    .option('--free', 'return the partition to automatic balancing')
    .addOption(reasonOption())
    .action(
      async (
        fleet: string,
        partition: string,
        node: string | undefined,
        options: FleetOptions & { free?: boolean },
      ) => {
        if ((node === undefined) === (options.free === undefined))
          throw new WrongUsage('give either the key or id of a node, or --free');
        const path = `${pathOf(fleet)}/partitions/${encodeURIComponent(partition)}/move`;
        const body = JSON.stringify({ to: node ?? null });
        const { text, value } = await (await reach(options)).post(path, body, PARTITION_MOVED);
        const { id, pin, owner } = value;
        const goes = pin === owner ? `is already on ${pin} and stays there` : `moves to ${pin} and stays there`;
        const said = pin === undefined ? 'is balanced automatically again' : `${goes} until that node stops`;
        tell(options, text, `${id} ${said}`, value.warning);
      },
    );

const separate = (): Command =>
  new Command('separate-checkpoints')
    .description(
      'store each checkpoint in a row of its own (only if no worker of release 0.2.0 will start again: after this, workers of that release refuse to join the fleet)',
    )
    .argument('<fleet>', 'name of the fleet', someFleet)
    .addOption(reasonOption())
    .action(async (fleet: string, options: FleetOptions) => {
      const { text } = await (await reach(options)).post(`${pathOf(fleet)}/separate-checkpoints`, '', FLEET);
      const said = `each checkpoint of ${fleet} moves to a row of its own when its partition gets a new owner. To complete this soon, restart the workers`;
      tell(options, text, said, undefined);
    });

const tell = ({ json }: CommonOptions, text: string, said: string, warning: string | undefined): void => {
  console.log(json ? printJson(text) : printable(said));
  if (warning !== undefined) complain([warning]);
};

/** Maximum number of partitions that are listed for one node. */
const NAMES_SHOWN = 12;

/** The nodes, their partitions, and remarks on what needs attention. */
export const describeFleet = (fleet: FleetShape, now = Date.now()): string => {
  const { nodes, partitions } = fleet;
  const all = `${plural(nodes.length, 'node')}, ${plural(partitions.length, 'partition')}`;
  const owners = [...Map.groupBy(partitions, ({ owner }) => owner)].flatMap(([owner, its]) =>
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
    ['NODE', 'STATUS', 'PARTITIONS', 'LAST HEARTBEAT', 'TTL', 'STARTED'],
    nodes.map((node) => [
      node.node,
      isSilent(node, now) ? `${node.status}, silent` : node.status,
      node.partitions,
      `${ago(node.lastBeatAt, now)} ago`,
      `${node.ttlSeconds} s`,
      `${ago(node.startedAt, now)} ago`,
    ]),
  );

/**
 * Whether a node has sent no heartbeat for longer than its TTL. The result is correct only if this machine's clock and
 * the node's clock agree.
 */
const isSilent = ({ status, lastBeatAt, ttlSeconds }: FleetNodeShape, now: number): boolean =>
  status !== 'evicted' && now - Date.parse(lastBeatAt) > ttlSeconds * 1_000;

const names = (partitions: readonly FleetPartitionShape[]): string => {
  const rest = partitions.length - NAMES_SHOWN;
  const shown = partitions.slice(0, NAMES_SHOWN).map(({ id }) => printable(id));
  return `${shown.join(' ')}${rest > 0 ? ` … and ${rest.toLocaleString('en')} more` : ''}`;
};

/** Explains partitions and nodes that are not in their normal state. */
const remarks = ({ nodes, partitions }: FleetShape, now: number): string[] => {
  const free = partitions.filter(({ status }) => status === 'free');
  const asked = partitions.filter(({ status }) => status === 'asked');
  // A pin to an evicted node has no effect any more.
  const living = new Set(nodes.flatMap(({ node, status }) => (status === 'evicted' ? [] : [node])));
  const pinned = partitions.filter(({ pin }) => pin !== undefined && living.has(pin));
  const works = nodes.some(({ status }) => status === 'working');
  const why = works
    ? 'no node works on these partitions yet; a working node that has them in its configuration takes them within a few cycles'
    : 'no node works on these partitions, and no node can take them: start a node, or end a drain with `groupage fleet drain FLEET NODE --undo`';
  return [
    ...(free.length > 0 ? [`${red(`free: ${names(free)}`)}`, `  (${why})`] : []),
    ...(asked.length > 0
      ? [`about to move: ${names(asked)}`, '  (each partition moves after the current work on it has ended)']
      : []),
    ...(pinned.length > 0
      ? [
          `pinned to a node: ${names(pinned)}`,
          '  (`groupage fleet move FLEET PARTITION --free` returns a partition to automatic balancing)',
        ]
      : []),
    ...(nodes.some((node) => isSilent(node, now))
      ? [
          'silent: no heartbeat for longer than the TTL. If the clocks agree, the other nodes evict the node and take its partitions',
        ]
      : []),
  ];
};

/** One partition, with its full checkpoint. */
export const describePartition = (partition: FleetPartitionShape, now = Date.now()): string =>
  [
    partitionsTable({ partitions: [partition] }, now),
    '',
    partition.checkpoint === undefined ? 'no checkpoint yet' : `checkpoint: ${printable(partition.checkpoint)}`,
  ].join('\n');

/** One line per partition. */
const partitionsTable = ({ partitions }: Pick<FleetShape, 'partitions'>, now = Date.now()): string =>
  table(
    ['PARTITION', 'STATUS', 'OWNER', 'SINCE', 'FENCE', 'NEXT OWNER', 'PINNED TO'],
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
