/** `groupage fan-out …`: commands for N items whose completion is reported exactly once. */
import { Command, InvalidArgumentError, Option } from 'commander';
import { pathOf } from '../../../../src/client/fan-out-calls.ts';
import type { FailFast } from '../../../../src/domain/fan-outs/fan-out.ts';
import { printable, printJson } from '../../../terminal.ts';
import { FAN_OUT, FAN_OUT_OUTLINE, ITEMS, SEALED } from '../../shared/answers.ts';
import { everyOption, somePart, tokenOfCalls } from '../../shared/arguments.ts';
import { type CommonOptions, connect, connectBecause, reasonOption, type WithReason } from '../../shared/connect.ts';
import { listed, listing, show as showAll } from '../../shared/pages.ts';
import { ackItems, addItems } from './items.ts';
import { describe, fanOutsTable, watchFanOut } from './show.ts';

const someFanOut = somePart('the id of a fan-out');

const wholeNumber = (text: string): number => {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('Give a whole number from 1 to 999999999.');
  return Number(text);
};

/** Parses a number of items (`3`) or a share of all items (`10%`). The API checks the range. */
const tolerance = (text: string): FailFast => {
  const [, number = '', percent] = /^(\d{1,9}(?:\.\d{1,9})?)(%?)$/.exec(text) ?? [];
  if (number === '') throw new InvalidArgumentError('Give a number of items such as 3, or a share such as 10%.');
  return percent === '%' ? { share: Number(`${number}e-2`) } : { count: Number(number) };
};

export const fanOutCommand = (): Command => {
  const group = new Command('fan-out').description('track N items and report exactly once when all are done');
  for (const each of [open(), add(), seal(), ack(), show(), items(), listAll(), watch(), remove()])
    group.addCommand(each);
  return group.addHelpText(
    'after',
    `
Examples:
  groupage fan-out open --id catalog-7 --callback ops
  groupage fan-out add catalog-7 25000 --items > items.txt
  groupage fan-out seal catalog-7
  groupage fan-out ack < items.txt
  groupage fan-out watch catalog-7`,
  );
};

interface OpenOptions extends CommonOptions {
  readonly id?: string;
  readonly userKey?: string;
  readonly callback?: string;
  readonly failFast?: FailFast;
  readonly notifyFirstFailure?: boolean;
}

const open = (): Command =>
  new Command('open')
    .description('open a fan-out and print its id')
    .option(
      '--id <id>',
      'id of the fan-out (default: a new id); repeating the command with the same options does not open a second fan-out',
    )
    .option('--user-key <text>', 'your own reference, shown with the fan-out and sent in its event')
    .option('--callback <destination>', 'configured destination that receives an event when the fan-out ends')
    .option(
      '--fail-fast <n|p%>',
      'complete the fan-out immediately when more than this number or percentage of items have failed',
      tolerance,
    )
    .option('--notify-first-failure', 'also send an event as soon as an item has failed')
    .action(async ({ id, userKey, callback, failFast, notifyFirstFailure, ...options }: OpenOptions) => {
      const api = await connect(options);
      const body = JSON.stringify({ id, userKey, callback, failFast, notifyFirstFailure });
      const { text, value } = await api.post('/fan-outs', body, FAN_OUT);
      console.log(options.json ? printJson(text) : printable(value.id));
    });

const add = (): Command =>
  new Command('add')
    .description('add items to an open fan-out')
    .argument('<id>', 'id of the fan-out', someFanOut)
    .argument('<count>', 'number of items', wholeNumber)
    .option(
      '--token <text>',
      'name for this addition; repeating the command with the same token does not add the items twice',
      tokenOfCalls,
    )
    .option('--items', 'print the id of each item, one per line, instead of the groups')
    .action(addItems);

const seal = (): Command =>
  new Command('seal')
    .description('close a fan-out for new items; the fan-out completes when its last item is done')
    .argument('<id>', 'id of the fan-out', someFanOut)
    .action(async (id: string, options: CommonOptions) => {
      const api = await connect(options);
      const { text, value } = await api.post(`${pathOf(id)}/seal`, '{}', SEALED);
      console.log(options.json ? printJson(text) : printable(`${id} is ${value.complete ? 'complete' : 'sealed'}`));
    });

const ack = (): Command =>
  new Command('ack')
    .description('report items as done (exit status 1 if some are unknown)')
    .argument('[items...]', 'ids of items (default: read from standard input, one per line)')
    .option('--failed', 'report the items as failed')
    .action(ackItems);

interface ShowOptions extends CommonOptions {
  readonly failed?: boolean;
}

const show = (): Command =>
  new Command('show')
    .description('show the status and counts of a fan-out')
    .argument('<id>', 'id of the fan-out', someFanOut)
    .option('--failed', 'list the failed items of the fan-out instead, one per line')
    .action(async (id: string, options: ShowOptions) => {
      if (options.failed) return printItems(`${pathOf(id)}/failed`, {}, options);
      const { text, value } = await (await connect(options)).get(pathOf(id), FAN_OUT);
      console.log(options.json ? printJson(text) : describe(value));
    });

/** Prints the ids of items, page by page. @param path of the pages; @param which parameters besides the cursor */
const printItems = async (path: string, which: Record<string, string>, options: CommonOptions): Promise<void> => {
  const api = await connect(options);
  const all: string[] = [];
  let cursor: string | undefined;
  do {
    const query = new URLSearchParams({ ...which, ...(cursor === undefined ? {} : { cursor }) });
    const { value } = await api.get(query.size === 0 ? path : `${path}?${query}`, ITEMS);
    if (options.json) all.push(...value.items);
    else for (const item of value.items) console.log(printable(item));
    cursor = value.cursor;
  } while (cursor !== undefined);
  if (options.json) console.log(printJson(JSON.stringify({ items: all })));
};

/** Number of items in one response. */
const PAGE = '10000';

const items = (): Command =>
  new Command('items')
    .description('list the items of a fan-out, one per line')
    .argument('<id>', 'id of the fan-out', someFanOut)
    .addOption(
      new Option('--status <status>', 'which items to list')
        .choices(['pending', 'succeeded', 'failed'])
        .default('pending'),
    )
    .action((id: string, { status, ...options }: CommonOptions & { readonly status: string }) =>
      printItems(`${pathOf(id)}/items`, { status, limit: PAGE }, options),
    );

const listAll = (): Command =>
  listing('list', 'list fan-outs, running fan-outs first').action(
    async (options: CommonOptions & { readonly limit: number }) => {
      const all = await listed(await connect(options), 'fanOuts', FAN_OUT_OUTLINE, {}, options.limit + 1, 'fan-outs');
      showAll(options, 'fanOuts', all, fanOutsTable, 'no fan-outs');
    },
  );

const watch = (): Command =>
  new Command('watch')
    .description('watch a fan-out until it ends (exit status 1 if it expired)')
    .argument('<id>', 'id of the fan-out', someFanOut)
    .option('--every <seconds>', 'seconds between two updates', everyOption, 1)
    .action(watchFanOut);

const remove = (): Command =>
  new Command('delete')
    .description('delete a fan-out without sending an event; a later ack of its items reports them as unknown')
    .argument('<id>', 'id of the fan-out', someFanOut)
    .addOption(reasonOption())
    .action(async (id: string, options: WithReason) => {
      const api = await connectBecause(options);
      const { text, value } = await api.delete(pathOf(id), FAN_OUT);
      console.log(options.json ? printJson(text) : printable(`${value.id} is deleted`));
    });
