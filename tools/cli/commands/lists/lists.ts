/** `groupage lists …`: deferred lists, whose jobs wait until they are triggered or claimed. */
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
import {
  type CommonOptions,
  connect,
  connectBecause,
  reasonOption,
  toSameApi,
  type WithReason,
} from '../../shared/connect.ts';
import { listed, listing, show as showAll } from '../../shared/pages.ts';
import { addJobs } from './add.ts';
import { describe, jobLines, listsTable, printJobs } from './show.ts';

const someList = somePart('the id of a list');
const someClaim = somePart('the claim handle that `groupage lists claim` printed');

const wholeNumber = (text: string): number => {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('Give a whole number, at least 1.');
  return Number(text);
};

/** Parses a percentage such as `10` or `10%`. The API checks the range. */
const percentage = (text: string): number => {
  if (!/^\d{1,9}(\.\d{1,9})?%?$/.test(text)) throw new InvalidArgumentError('Give a number such as 10 or 2.5.');
  return Number(text.replace('%', ''));
};

export const listsCommand = (): Command => {
  const group = new Command('lists').description('keep numbered jobs until they are triggered or claimed');
  const changes = [
    changing('seal', ofList('seal', 'close a list for new jobs; the list completes when its last job is done')),
    changing(
      'cancel',
      ofList('cancel', 'cancel a list: waiting jobs never start, started jobs finish').addOption(reasonOption()),
    ),
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
  new Command(name).description(description).argument('<id>', 'id of the list', someList);

interface CreateOptions extends CommonOptions {
  readonly id?: string;
  readonly operation?: string;
  readonly name?: string;
  readonly callback?: string;
}

const create = (): Command =>
  new Command('create')
    .description('create a list and print its id')
    .option(
      '--id <id>',
      'id of the list (default: a new id); repeating the command with the same options does not create a second list',
    )
    .option('--operation <name>', 'operation that processes the triggered jobs as tasks')
    .option('--name <text>', 'your own name for it, shown with the list and sent in its event')
    .option('--callback <destination>', 'configured destination that receives an event when the list ends')
    .action(async ({ id, operation, name, callback, ...options }: CreateOptions) => {
      const api = await connect(options);
      const { text, value } = await api.post('/lists', JSON.stringify({ id, operation, name, callback }), LIST);
      console.log(options.json ? printJson(text) : printable(value.id));
    });

const add = (): Command =>
  ofList('add', 'add jobs to an open list')
    .argument('<file>', 'file of JSON lines, each the payload of a job (- for standard input)')
    .option(
      '--token <text>',
      'name for this addition; repeating the command with the same token does not add the jobs twice',
      tokenOfCalls,
    )
    .action(addJobs);

const changing = (name: 'seal' | 'cancel', command: Command): Command =>
  command.action(async (id: string, options: WithReason) => {
    const { text, value } = await (await connectBecause(options)).post(
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
  ofList('trigger', 'turn the next jobs of a list into tasks of its operation')
    .option('--count <n>', 'maximum number of jobs', wholeNumber)
    .option('--percent <p>', 'percentage of all jobs of the list, e.g. 10', percentage)
    .option(
      '--token <text>',
      'name for this trigger; repeating the command with the same token does not trigger the jobs twice',
      tokenOfCalls,
    )
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
      `${cause.message}\nSome of the jobs may have been triggered. To trigger the jobs without triggering any job twice, run: groupage lists trigger ${id} ${wanted} --token ${JSON.stringify(token)}${toSameApi(options)}`,
    );
  }
};

const claim = (): Command =>
  ofList('claim', 'claim jobs and print them as JSON lines; the claim handle goes to standard error')
    .option('--count <n>', 'maximum number of jobs', wholeNumber, 1)
    .option('--lease <seconds>', 'time in seconds for which no other worker gets the jobs', wholeNumber, 60)
    .option('--claim-id <text>', 'id of this claim; repeating the command with the same id returns the same jobs')
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
    if (!('expiresAt' in value))
      return console.error(printable(`no job can be claimed: ${id} is ${String(value.status)}`));
    const said = `claim ${String(value.claimId)} reserves ${plural(value.jobs.length, 'job')} until ${String(value.expiresAt)}`;
    console.error(
      printable(
        `${said}. When the jobs are done: groupage lists complete ${id} ${String(value.claimId)}${toSameApi(options)}`,
      ),
    );
  } catch (cause) {
    if (!(cause instanceof CommandFailure) || isRefused(cause)) throw cause;
    const again = `groupage lists claim ${id} --count ${count} --lease ${lease} --claim-id ${claimId}${toSameApi(options)}`;
    throw new CommandFailure(`${cause.message}\nSome jobs may have been claimed. To get these jobs, run: ${again}`);
  }
};

const complete = (): Command =>
  ofList('complete', 'report the jobs of a claim as done')
    .argument('<claim>', 'claim handle that `groupage lists claim` printed', someClaim)
    .option('--failed', 'report the jobs as failed')
    .option('--jobs <tokens...>', 'report only the jobs with these tokens', wholeOrZero)
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

/** Tokens of a claim's jobs, read from its handle. */
const tokensOf = (claim: string): readonly number[] => {
  const [, first, count] = /^[^.]+\.(\d{1,12})\.(\d{1,4})\./.exec(claim) ?? [];
  return Array.from({ length: Number(count ?? 0) }, (_, n) => Number(first) + n);
};

const wholeOrZero = (text: string, before: readonly number[] = []): readonly number[] => {
  if (!/^(0|[1-9]\d{0,11})$/.test(text)) throw new InvalidArgumentError('Give tokens of jobs, such as 17 18.');
  return [...before, Number(text)];
};

const release = (): Command =>
  ofList('release', 'release a claim: other workers can claim its unfinished jobs')
    .argument('<claim>', 'claim handle that `groupage lists claim` printed', someClaim)
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
  ofList('show', 'show the status and counts of a list')
    .option('--jobs', 'print the jobs of the list with their results instead, as JSON lines')
    .action(async (id: string, options: ShowOptions) => {
      const api = await connect(options);
      if (options.jobs) return printJobs(api, id, options);
      const { text, value } = await api.get(listPath(id), LIST);
      console.log(options.json ? printJson(text) : describe(value));
    });

const listAll = (): Command =>
  listing('list', 'list the lists, open lists first').action(
    async (options: CommonOptions & { readonly limit: number }) => {
      const all = await listed(await connect(options), 'lists', LIST_OUTLINE, {}, options.limit + 1);
      showAll(options, 'lists', all, listsTable, 'no lists');
    },
  );

const remove = (): Command =>
  ofList('delete', 'delete a list with its jobs and their results, without sending an event')
    .addOption(reasonOption())
    .action(async (id: string, options: WithReason) => {
      const { text, value } = await (await connectBecause(options)).delete(listPath(id), LIST_DELETED);
      const said = `deleted ${value.id} with ${plural(value.total, 'job')}`;
      console.log(options.json ? printJson(text) : printable(said));
    });
