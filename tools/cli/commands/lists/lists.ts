/** `groupage lists …`: deferred lists, whose jobs wait until they are triggered or claimed. */
import { Command, InvalidArgumentError, Option } from 'commander';
import { ulid } from 'ulid';
import type { ZodMiniType } from 'zod/mini';
import { JOB_STATUSES } from '../../../../src/api/lists/requests.ts';
import { listPath } from '../../../../src/client/list-calls.ts';
import { rangesOfHandle } from '../../../../src/domain/lists/ids.ts';
import { tokensOf } from '../../../../src/domain/lists/ranges.ts';
import { CommandFailure, WrongUsage } from '../../../failure.ts';
import { plural, printable, printJson } from '../../../terminal.ts';
import {
  BROKEN,
  CLAIMED,
  CLAIMS,
  COMPLETED,
  LIST,
  LIST_DELETED,
  LIST_OUTLINE,
  type ListShape,
  RELEASED,
  RENEWED,
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
import { claimsTable, describe, jobLines, listsTable, printJobs } from './show.ts';
import { worker } from './worker.ts';

const someList = somePart('the id of a list');
const someClaim = somePart('the claim that `groupage lists claim` printed');

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
    renew(),
    complete(),
    release(),
    claims(),
    breakOne(),
    worker(),
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
  groupage lists claims spring
  groupage lists break spring CLAIM
  groupage lists worker spring --concurrency 4 -- python3 worker.py
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
  readonly maxDeliveries?: number;
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
    .option(
      '--max-deliveries <n>',
      'how often workers get a job that they do not end, before it fails (default: the configured number)',
      wholeNumber,
    )
    .action(async ({ id, operation, name, callback, maxDeliveries, ...options }: CreateOptions) => {
      const api = await connect(options);
      const body = JSON.stringify({ id, operation, name, callback, maxDeliveries });
      const { text, value } = await api.post('/lists', body, LIST);
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
  ofList('claim', 'claim jobs and print them as JSON lines; the claim goes to standard error')
    .option('--count <n>', 'maximum number of jobs', wholeNumber, 1)
    .option('--lease <seconds>', 'time in seconds for which no other worker gets the jobs', wholeNumber, 60)
    .option('--claim-id <text>', 'id of this claim; repeating the command with the same id returns the same jobs')
    .option('--holder <name>', 'who claims, as `groupage lists claims` shows it')
    .action(claimJobs);

interface ClaimOptions extends CommonOptions {
  readonly count: number;
  readonly lease: number;
  readonly claimId?: string;
  readonly holder?: string;
}

const claimJobs = async (id: string, options: ClaimOptions): Promise<void> => {
  const { count, lease, claimId = ulid(), holder } = options;
  const api = await connect(options);
  try {
    const body = JSON.stringify({ count, leaseSeconds: lease, claimId, holder });
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
    .argument('<claim>', 'claim that `groupage lists claim` printed, or its --claim-id', someClaim)
    .option('--failed', 'report the jobs as failed')
    .option('--jobs <tokens...>', 'report only the jobs with these tokens', wholeOrZero)
    .option('--code <code>', 'with --failed: the kind of error, for programs (default: failed)')
    .option('--message <text>', 'with --failed: the reason, for people')
    .action(completeClaim);

interface CompleteOptions extends CommonOptions {
  readonly failed?: boolean;
  readonly jobs?: readonly number[];
  readonly code?: string;
  readonly message?: string;
}

/** The error of failed jobs. @throws WrongUsage */
const errorGiven = ({ failed, code, message }: CompleteOptions) => {
  const isGiven = message !== undefined || code !== undefined;
  if (isGiven && !failed) throw new WrongUsage('--code and --message need --failed');
  const kind = code ?? 'failed';
  return isGiven ? { error: { code: kind, message: message || kind } } : {};
};

const completeClaim = async (id: string, claim: string, options: CompleteOptions): Promise<void> => {
  const status = options.failed ? 'failed' : 'succeeded';
  const tokens = options.jobs ?? (options.failed ? allTokensOf(claim) : undefined);
  const error = errorGiven(options);
  const body = tokens ? { jobs: tokens.map((token) => ({ token, status, ...error })) } : {};
  const api = await connect(options);
  const { text, value } = await api.post(`${pathOf(id, claim)}/complete`, JSON.stringify(body), COMPLETED);
  const what = options.jobs ? plural(options.jobs.length, 'job is', 'jobs are') : 'all jobs of the claim are';
  const state = value.complete ? 'complete' : 'not complete yet';
  const said = `${what} reported as ${status}; ${id} is ${state}`;
  console.log(options.json ? printJson(text) : printable(said));
};

/** Tokens of a claim's jobs, read from the text that `groupage lists claim` printed. @throws WrongUsage */
const allTokensOf = (claim: string): readonly number[] => {
  const ranges = rangesOfHandle(claim);
  if (!ranges)
    throw new WrongUsage('name the failed jobs with --jobs, or give the claim as `groupage lists claim` printed it');
  return ranges.flatMap(tokensOf);
};

const wholeOrZero = (text: string, before: readonly number[] = []): readonly number[] => {
  if (!/^(0|[1-9]\d{0,11})$/.test(text)) throw new InvalidArgumentError('Give tokens of jobs, such as 17 18.');
  return [...before, Number(text)];
};

interface RenewOptions extends CommonOptions {
  readonly lease: number;
}

const renew = (): Command =>
  ofList('renew', 'renew the lease of a claim, from now')
    .argument('<claim>', 'claim that `groupage lists claim` printed, or its --claim-id', someClaim)
    .option('--lease <seconds>', 'time in seconds for which no other worker gets the jobs', wholeNumber, 60)
    .action(async (id: string, claim: string, { lease, ...options }: RenewOptions) => {
      const api = await connect(options);
      const { text, value } = await api.put(pathOf(id, claim), JSON.stringify({ leaseSeconds: lease }), RENEWED);
      const until = `reserved until ${String(value.expiresAt)}`;
      console.log(options.json ? printJson(text) : printable(`the jobs of the claim are ${until}`));
    });

interface ReleaseOptions extends CommonOptions {
  readonly attempted?: readonly number[];
}

const release = (): Command =>
  ofList('release', 'release a claim: other workers can claim its unfinished jobs')
    .argument('<claim>', 'claim that `groupage lists claim` printed, or its --claim-id', someClaim)
    .option(
      '--attempted [tokens...]',
      'jobs that were begun; this delivery counts for them only (without the option: for all jobs of the claim)',
      wholeOrZero,
    )
    .action(releaseClaim);

const releaseClaim = async (id: string, claim: string, { attempted, ...options }: ReleaseOptions): Promise<void> => {
  // Without a value, the option is `true`: no job was begun.
  const begun = attempted === undefined ? undefined : Array.isArray(attempted) ? attempted : [];
  const body = begun && JSON.stringify({ attempted: begun.map((token: number) => ({ token })) });
  const { text, value } = await (await connect(options)).post(`${pathOf(id, claim)}/release`, body ?? '', RELEASED);
  const { released, failed = 0 } = value;
  const rest = failed > 0 ? `; ${plural(failed, 'job')} failed, because this was the last delivery` : '';
  console.log(options.json ? printJson(text) : `${plural(released, 'job')} released${rest}`);
};

const claims = (): Command =>
  ofList('claims', 'list the claims of workers on a list, with their holders and the ends of their leases').action(
    async (id: string, options: CommonOptions) => {
      const { text, value } = await (await connect(options)).get(`${listPath(id)}/claims`, CLAIMS);
      if (options.json) return console.log(printJson(text));
      console.log(value.claims.length === 0 ? `no claims on ${printable(id)}` : claimsTable(value.claims));
    },
  );

const breakOne = (): Command =>
  ofList('break', 'end a claim, for example of a dead worker: others can claim its unfinished jobs at once')
    .argument('<claim>', 'claim that `groupage lists claims` lists', someClaim)
    .addOption(reasonOption())
    .action(async (id: string, claim: string, options: WithReason) => {
      const { text, value } = await (await connectBecause(options)).delete(pathOf(id, claim), BROKEN);
      const said = `claim ${value.claim} is ended: others can claim its ${plural(value.released, 'job')} now`;
      const warning =
        'The delivery counts for these jobs. If the worker still runs, it may work on a job that another worker has, until its next call.';
      console.log(options.json ? printJson(text) : printable(`${said}. ${warning}`));
    });

const pathOf = (id: string, claim: string): string => `${listPath(id)}/claims/${encodeURIComponent(claim)}`;

interface ShowOptions extends CommonOptions {
  readonly jobs?: boolean;
  readonly status?: string;
}

const show = (): Command =>
  ofList('show', 'show the status and counts of a list')
    .option('--jobs', 'print the jobs of the list with their results instead, as JSON lines')
    .addOption(
      new Option('--status <status>', 'with --jobs: only jobs with this status').choices(Object.keys(JOB_STATUSES)),
    )
    .action(async (id: string, options: ShowOptions) => {
      if (options.status !== undefined && !options.jobs) throw new WrongUsage('--status needs --jobs');
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
