/** `groupage fleet …`: workers that share partitions: how they stand, drain one, move a partition, separate checkpoints. */
import { Command, Option } from 'commander';
import { WrongUsage } from '../failure.ts';
import { type CommonOptions, FLEET, FLEET_NODE, FLEET_PARTITION, FLEETS } from '../shapes.ts';
import { complain, plural, printable, printJson } from '../terminal.ts';
import type { ApiClient } from './api-client.ts';
import { connect } from './connect.ts';
import { describeFleet, describePartition, partitionsTable } from './fleet-view.ts';
import { somePart } from './reading.ts';

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
  const { tableApi } = await import('./table-api.ts');
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
        const { text, value } = await (await reach(options)).post(path, body, FLEET_PARTITION);
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
