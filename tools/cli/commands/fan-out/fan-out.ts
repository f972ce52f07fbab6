/** `groupage fan-out …`: N items, of which it is known exactly once that the last is done. */
import { Command, InvalidArgumentError } from 'commander';
import { pathOf } from '../../../../src/client/fan-out-calls.ts';
import type { FailFast } from '../../../../src/domain/fan-outs/fan-out.ts';
import { printable, printJson } from '../../../terminal.ts';
import { FAILED_ITEMS, FAN_OUT, FAN_OUT_OUTLINE, SEALED } from '../../shared/answers.ts';
import { everyOption, somePart, tokenOfCalls } from '../../shared/arguments.ts';
import { type CommonOptions, connect } from '../../shared/connect.ts';
import { listed, listing, show as showAll } from '../../shared/pages.ts';
import { ackItems, addItems } from './items.ts';
import { describe, fanOutsTable, watchFanOut } from './show.ts';

const someFanOut = somePart('the id of a fan-out');

const wholeNumber = (text: string): number => {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('It takes a whole number from 1 to 999999999.');
  return Number(text);
};

/** `3`, or `10%` of all items. What of these it may be is the API's to say. */
const tolerance = (text: string): FailFast => {
  const [, number = '', percent] = /^(\d{1,9}(?:\.\d{1,9})?)(%?)$/.exec(text) ?? [];
  if (number === '') throw new InvalidArgumentError('It takes a number of items such as 3, or a share such as 10%.');
  return percent === '%' ? { share: Number(`${number}e-2`) } : { count: Number(number) };
};

export const fanOutCommand = (): Command => {
  const group = new Command('fan-out').description('hand out N items, and know exactly once that the last is done');
  for (const each of [open(), add(), seal(), ack(), show(), listAll(), watch(), remove()]) group.addCommand(each);
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
}

const open = (): Command =>
  new Command('open')
    .description('open a fan-out, and print its id')
    .option('--id <id>', 'name it: opened again with the same options it is the same one')
    .option('--user-key <text>', 'what it is about: shown with it, and told at its end')
    .option('--callback <destination>', 'the configured destination that is told of its end')
    .option('--fail-fast <n|p%>', 'complete at once when more items than that have failed', tolerance)
    .action(async ({ id, userKey, callback, failFast, ...options }: OpenOptions) => {
      const api = await connect(options);
      const { text, value } = await api.post('/fan-outs', JSON.stringify({ id, userKey, callback, failFast }), FAN_OUT);
      console.log(options.json ? printJson(text) : printable(value.id));
    });

const add = (): Command =>
  new Command('add')
    .description('add items to a fan-out that is open')
    .argument('<id>', "the fan-out's id", someFanOut)
    .argument('<count>', 'how many', wholeNumber)
    .option('--token <text>', 'name the addition: made again with the same token it adds nothing more', tokenOfCalls)
    .option('--items', "print every item's id, one a line, instead of the groups")
    .action(addItems);

const seal = (): Command =>
  new Command('seal')
    .description('nothing is added any more: it completes with its last item')
    .argument('<id>', "the fan-out's id", someFanOut)
    .action(async (id: string, options: CommonOptions) => {
      const api = await connect(options);
      const { text, value } = await api.post(`${pathOf(id)}/seal`, '{}', SEALED);
      console.log(options.json ? printJson(text) : printable(`${id} is ${value.complete ? 'complete' : 'sealed'}`));
    });

const ack = (): Command =>
  new Command('ack')
    .description('items are done (exit status 1 if some are unknown)')
    .argument('[items...]', 'their ids; without any, those on the standard input, one a line')
    .option('--failed', 'they have failed')
    .action(ackItems);

interface ShowOptions extends CommonOptions {
  readonly failed?: boolean;
}

const show = (): Command =>
  new Command('show')
    .description('show how far a fan-out is')
    .argument('<id>', "the fan-out's id", someFanOut)
    .option('--failed', 'list the items that failed instead, one a line')
    .action(async (id: string, options: ShowOptions) => {
      if (options.failed) return listFailed(id, options);
      const { text, value } = await (await connect(options)).get(pathOf(id), FAN_OUT);
      console.log(options.json ? printJson(text) : describe(value));
    });

const listFailed = async (id: string, options: CommonOptions): Promise<void> => {
  const api = await connect(options);
  const all: string[] = [];
  let cursor: string | undefined;
  do {
    const query = cursor === undefined ? '' : `?${new URLSearchParams({ cursor })}`;
    const { value } = await api.get(`${pathOf(id)}/failed${query}`, FAILED_ITEMS);
    if (options.json) all.push(...value.items);
    else for (const item of value.items) console.log(printable(item));
    cursor = value.cursor;
  } while (cursor !== undefined);
  if (options.json) console.log(printJson(JSON.stringify({ items: all })));
};

const listAll = (): Command =>
  listing('list', 'list fan-outs: those under way, then those that ended').action(
    async (options: CommonOptions & { readonly limit: number }) => {
      const all = await listed(await connect(options), 'fanOuts', FAN_OUT_OUTLINE, {}, options.limit + 1, 'fan-outs');
      showAll(options, 'fanOuts', all, fanOutsTable, 'no fan-outs');
    },
  );

const watch = (): Command =>
  new Command('watch')
    .description('watch a fan-out until it ends (exit status 1 if it expired)')
    .argument('<id>', "the fan-out's id", someFanOut)
    .option('--every <seconds>', 'how often to look', everyOption, 1)
    .action(watchFanOut);

const remove = (): Command =>
  new Command('delete')
    .description('end a fan-out without telling anybody: its items become unknown')
    .argument('<id>', "the fan-out's id", someFanOut)
    .action(async (id: string, options: CommonOptions) => {
      const api = await connect(options);
      const { text, value } = await api.delete(pathOf(id), FAN_OUT);
      console.log(options.json ? printJson(text) : printable(`${value.id} is deleted`));
    });
