/** `groupage lists …`: jobs that wait until they are asked for, and then are each handed out once. */
import { Command, InvalidArgumentError } from 'commander';
import { ulid } from 'ulid';
import type { ZodMiniType } from 'zod/mini';
import { listPath } from '../../../../src/client/list-calls.ts';
import { CommandFailure, WrongUsage } from '../../../failure.ts';
import { plural, printable, printJson } from '../../../terminal.ts';
import {
  CLAIMED,
  COMPLETED,
  LIST,
  LIST_DELETED,
  LIST_OUTLINE,
  type ListShape,
  RELEASED,
  TRIGGERED,
} from '../../shared/answers.ts';
import { isRefused } from '../../shared/api-client.ts';
import { somePart, tokenOfCalls } from '../../shared/arguments.ts';
import { type CommonOptions, connect, toSameApi } from '../../shared/connect.ts';
import { listed, listing, show as showAll } from '../../shared/pages.ts';
import { addJobs } from './add.ts';
import { describe, jobLines, listsTable, printJobs } from './show.ts';

const someList = somePart('the id of a list');
const someClaim = somePart('what the claim was answered');

const wholeNumber = (text: string): number => {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('It takes a whole number from 1.');
  return Number(text);
};

/** `10`, or `10%`. What of these it may be is the API's to say. */
const percentage = (text: string): number => {
  if (!/^\d{1,9}(\.\d{1,9})?%?$/.test(text)) throw new InvalidArgumentError('It takes a number such as 10 or 2.5.');
  return Number(text.replace('%', ''));
};

export const listsCommand = (): Command => {
  const group = new Command('lists').description('keep jobs until they are asked for, and hand out each of them once');
  const changes = [
    changing('seal', 'nothing is added any more: it completes with its last job'),
    changing('cancel', 'what waits never starts, and nothing is added: what runs finishes'),
  ];
  for (const each of [
    create(),
    add(),
    ...changes,
    trigger(),
    claim(),
    complete(),
    release(),
    show(),
    listAll(),
    remove(),
  ])
    group.addCommand(each);
  return group.addHelpText(
    'after',
    `
Examples:
  groupage lists create --id spring --operation distribute-parcels
  groupage lists add spring parcels.jsonl
  groupage lists trigger spring --percent 10
  groupage lists claim spring --count 100 --lease 60 > jobs.jsonl
  groupage lists complete spring CLAIM
  groupage lists seal spring
  groupage lists show spring`,
  );
};

const ofList = (name: string, description: string): Command =>
  new Command(name).description(description).argument('<id>', "the list's id", someList);

interface CreateOptions extends CommonOptions {
  readonly id?: string;
  readonly operation?: string;
  readonly name?: string;
  readonly callback?: string;
}

const create = (): Command =>
  new Command('create')
    .description('create a list, and print its id')
    .option('--id <id>', 'name it: created again with the same options it is the same one')
    .option('--operation <name>', 'of the tasks that its jobs become when they are triggered')
    .option('--name <text>', 'what it is about: shown with it, and told at its end')
    .option('--callback <destination>', 'the configured destination that is told of its end')
    .action(async ({ id, operation, name, callback, ...options }: CreateOptions) => {
      const api = await connect(options);
      const { text, value } = await api.post('/lists', JSON.stringify({ id, operation, name, callback }), LIST);
      console.log(options.json ? printJson(text) : printable(value.id));
    });

const add = (): Command =>
  ofList('add', 'add jobs to a list that is open')
    .argument('<file>', 'JSON lines, each the payload of a job; - is the standard input')
    .option('--token <text>', 'name the addition: made again with the same token it adds nothing twice', tokenOfCalls)
    .action(addJobs);

const changing = (name: 'seal' | 'cancel', description: string): Command =>
  ofList(name, description).action(async (id: string, options: CommonOptions) => {
    const { text, value } = await (await connect(options)).post(
      `${listPath(id)}/${name}`,
      '',
      LIST as ZodMiniType<ListShape>,
    );
    console.log(options.json ? printJson(text) : printable(`${id} is ${value.status}`));
  });

interface TriggerOptions extends CommonOptions {
  readonly count?: number;
  readonly percent?: number;
  readonly token?: string;
}

const trigger = (): Command =>
  ofList('trigger', 'jobs of a list become tasks of its operation: those that are left, where that is less')
    .option('--count <n>', 'so many', wholeNumber)
    .option('--percent <p>', 'such a share of all that the list has, e.g. 10', percentage)
    .option('--token <text>', 'name the trigger: made again with the same token it does nothing more', tokenOfCalls)
    .action(triggerJobs);

const triggerJobs = async (id: string, { count, percent, token = ulid(), ...options }: TriggerOptions) => {
  if ((count === undefined) === (percent === undefined)) throw new WrongUsage('give either --count or --percent');
  const api = await connect(options);
  try {
    const body = JSON.stringify({ count, percent, token });
    const { text, value } = await api.post(`${listPath(id)}/triggers`, body, TRIGGERED);
    const said = `${plural(value.triggered, 'job')} triggered, ${value.left.toLocaleString('en')} left`;
    console.log(options.json ? printJson(text) : said);
  } catch (cause) {
    if (!(cause instanceof CommandFailure) || isRefused(cause)) throw cause;
    const wanted = count === undefined ? `--percent ${percent}` : `--count ${count}`;
    throw new CommandFailure(
      `${cause.message}\nWhether jobs were triggered is not known; to trigger these, and none twice: groupage lists trigger ${id} ${wanted} --token ${JSON.stringify(token)}${toSameApi(options)}`,
    );
  }
};

const claim = (): Command =>
  ofList('claim', 'claim jobs, and print them as JSON lines; the claim goes to the standard error')
    .option('--count <n>', 'as many at the most', wholeNumber, 1)
    .option('--lease <seconds>', 'nobody else gets them for so long', wholeNumber, 60)
    .option('--claim-id <text>', 'name the claim: made again with the same one it is answered the same jobs')
    .action(claimJobs);

interface ClaimOptions extends CommonOptions {
  readonly count: number;
  readonly lease: number;
  readonly claimId?: string;
}

const claimJobs = async (id: string, options: ClaimOptions): Promise<void> => {
  const { count, lease, claimId = ulid() } = options;
  const api = await connect(options);
  try {
    const body = JSON.stringify({ count, leaseSeconds: lease, claimId });
    const { text, value } = await api.post(`${listPath(id)}/claims`, body, CLAIMED);
    if (options.json) return console.log(printJson(text));
    for (const line of jobLines(text)) console.log(printJson(line));
    if (!('expiresAt' in value)) return console.error(printable(`nothing to claim: ${id} is ${String(value.status)}`));
    const said = `claim ${String(value.claimId)} has ${plural(value.jobs.length, 'job')} until ${String(value.expiresAt)}`;
    console.error(
      printable(`${said}; then: groupage lists complete ${id} ${String(value.claimId)}${toSameApi(options)}`),
    );
  } catch (cause) {
    if (!(cause instanceof CommandFailure) || isRefused(cause)) throw cause;
    const again = `groupage lists claim ${id} --count ${count} --lease ${lease} --claim-id ${claimId}${toSameApi(options)}`;
    throw new CommandFailure(`${cause.message}\nWhether jobs were claimed is not known; to be answered them: ${again}`);
  }
};

const complete = (): Command =>
  ofList('complete', 'the jobs of a claim are done')
    .argument('<claim>', 'what the claim was answered', someClaim)
    .option('--failed', 'they have failed')
    .option('--jobs <tokens...>', 'these of them alone', wholeOrZero)
    .action(completeClaim);

interface CompleteOptions extends CommonOptions {
  readonly failed?: boolean;
  readonly jobs?: readonly number[];
}

const completeClaim = async (id: string, claim: string, options: CompleteOptions): Promise<void> => {
  const status = options.failed ? 'failed' : 'succeeded';
  const tokens = options.jobs ?? (options.failed ? tokensOf(claim) : undefined);
  const body = tokens ? { jobs: tokens.map((token) => ({ token, status })) } : {};
  const api = await connect(options);
  const { text, value } = await api.post(`${pathOf(id, claim)}/complete`, JSON.stringify(body), COMPLETED);
  const what = options.jobs ? plural(options.jobs.length, 'job is', 'jobs are') : 'all jobs of the claim are';
  const said = `${what} done; ${id} is ${value.complete ? 'complete' : 'not complete yet'}`;
  console.log(options.json ? printJson(text) : printable(said));
};

/** Those that a claim has, as its handle says. */
const tokensOf = (claim: string): readonly number[] => {
  const [, first, count] = /^[^.]+\.(\d{1,12})\.(\d{1,4})\./.exec(claim) ?? [];
  return Array.from({ length: Number(count ?? 0) }, (_, n) => Number(first) + n);
};

const wholeOrZero = (text: string, before: readonly number[] = []): readonly number[] => {
  if (!/^(0|[1-9]\d{0,11})$/.test(text)) throw new InvalidArgumentError('It takes the tokens of jobs, such as 17 18.');
  return [...before, Number(text)];
};

const release = (): Command =>
  ofList('release', 'jobs of a claim that are not done go back to the pool')
    .argument('<claim>', 'what the claim was answered', someClaim)
    .action(releaseClaim);

const releaseClaim = async (id: string, claim: string, options: CommonOptions): Promise<void> => {
  const { text, value } = await (await connect(options)).post(`${pathOf(id, claim)}/release`, '', RELEASED);
  console.log(options.json ? printJson(text) : `${plural(value.released, 'job')} released`);
};

const pathOf = (id: string, claim: string): string => `${listPath(id)}/claims/${encodeURIComponent(claim)}`;

interface ShowOptions extends CommonOptions {
  readonly jobs?: boolean;
}

const show = (): Command =>
  ofList('show', 'show how far a list is')
    .option('--jobs', 'list its jobs instead, and what became of them, as JSON lines')
    .action(async (id: string, options: ShowOptions) => {
      const api = await connect(options);
      if (options.jobs) return printJobs(api, id, options);
      const { text, value } = await api.get(listPath(id), LIST);
      console.log(options.json ? printJson(text) : describe(value));
    });

const listAll = (): Command =>
  listing('list', 'list the lists: those under way, then those that ended').action(
    async (options: CommonOptions & { readonly limit: number }) => {
      const all = await listed(await connect(options), 'lists', LIST_OUTLINE, {}, options.limit + 1);
      showAll(options, 'lists', all, listsTable, 'no lists');
    },
  );

const remove = (): Command =>
  ofList('delete', 'end a list without telling anybody, and delete its jobs and their results').action(
    async (id: string, options: CommonOptions) => {
      const { text, value } = await (await connect(options)).delete(listPath(id), LIST_DELETED);
      const said = `${value.id} is deleted, with ${plural(value.total, 'job')}`;
      console.log(options.json ? printJson(text) : printable(said));
    },
  );
