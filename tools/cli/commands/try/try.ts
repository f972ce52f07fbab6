/** `groupage try`: sends one test batch to an operation's batch API, and shows how its answer is read. */
import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { ulid } from 'ulid';
import { CONFIG_FILES, findConfig, loadConfig } from '../../../../src/config/load.ts';
import type { HttpTarget } from '../../../../src/domain/config/endpoints.ts';
import type { Config, Operation } from '../../../../src/domain/config/resolved.ts';
import type { Call } from '../../../../src/domain/downstream/downstream.ts';
import { writeCall } from '../../../../src/domain/downstream/http-request.ts';
import type { Secrets } from '../../../../src/domain/downstream/secret.ts';
import { batchIdOf, type Target, type TaskId } from '../../../../src/domain/ids.ts';
import { targetOf } from '../../../../src/domain/target.ts';
import type { TaskError } from '../../../../src/domain/tasks/task.ts';
import { formattedDownstream } from '../../../../src/downstreams/formatted-http.ts';
import type { CallSurroundings } from '../../../../src/downstreams/http-format.ts';
import { describeProblem, reasonOf } from '../../../../src/util/problems.ts';
import { CommandFailure, WrongUsage } from '../../../failure.ts';
import { environmentSecrets } from '../../../local/secrets.ts';
import { dim, green, plural, printable, printJson, red, table } from '../../../terminal.ts';
import { notAPayload } from '../../shared/lines.ts';
import { type Exchange, recorderOf } from './exchanges.ts';
import { consequenceOf, type Understood, understood } from './understood.ts';

interface TryOptions {
  readonly file?: string;
  readonly config?: string;
  readonly aws?: boolean;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

export const tryCommand = (): Command =>
  new Command('try')
    .description('send one test batch to an HTTP batch API, without a stack, and show how its answer is read')
    .argument('<operation>', 'name of the operation')
    .argument('[payload...]', 'payloads of the tasks of the batch, each a JSON object')
    .option('--file <path>', 'file with a payload in each line, instead of [payload...]')
    .option('--config <file>', `configuration file (default: $GROUPAGE_CONFIG, or ${CONFIG_FILES.join(' or ')})`)
    .option(
      '--aws',
      'read the secrets from AWS, with your own credentials (default: from environment variables: GROUPAGE_SECRET_EXPO_TOKEN for /expo/token)',
    )
    .option('--dry-run', 'show the URL and the body, and send nothing')
    .addHelpText(
      'after',
      `
The API is really called, but nothing is stored, and limits do not apply.
Exit status: 0 if all tasks succeed (with --dry-run: if all payloads fit), 1 otherwise.

Examples:
  groupage try send-push '{"project":"shop","message":{"to":"…"}}'
  groupage try send-push --file some.jsonl --dry-run`,
    )
    .action((operation: string, payloads: readonly string[], options: TryOptions) =>
      attempt(operation, payloads, options),
    );

const attempt = async (name: string, given: readonly string[], options: TryOptions): Promise<void> => {
  const operation = operationIn(await configOf(options), name);
  const { downstream } = operation;
  if (downstream.kind !== 'http')
    throw new CommandFailure(
      `${name} has a downstream of kind ${downstream.kind}, and groupage try calls HTTP APIs only. Send a task instead: groupage send ${name} '{…}'`,
    );
  if (operation.merge)
    throw new CommandFailure(
      `${name} merges requests, and groupage try sends single tasks only. Send a task instead: groupage send ${name} '{…}'`,
    );
  const call = callOf(operation, payloadsIn(given, options));
  if (options.dryRun) return showRequest(downstream, call, options);
  const { secrets, sign } = options.aws ? await inAws() : { secrets: environmentSecrets(process.env) };
  const recorder = recorderOf(
    secrets,
    downstream.timeout,
    downstream.auth?.kind === 'oauth2' ? downstream.auth.tokenUrl : undefined,
  );
  const surroundings = { now: Date.now, secrets: recorder.secrets, send: recorder.send, ...(sign ? { sign } : {}) };
  const answer = await formattedDownstream(downstream, surroundings).call(call);
  const tasks = understood(answer, call.items, operation.retry.bisect).map((each) => ({
    ...each,
    why: recorder.hide(each.why),
  }));
  const exchanges = recorder.exchanges();
  const consequence = consequenceOf(answer, operation);
  console.log(options.json ? printJson(JSON.stringify({ exchanges, tasks })) : describe(exchanges, tasks, consequence));
  if (tasks.some(({ is }) => is !== 'succeeded')) process.exitCode ||= 1;
};

const configOf = async ({ config }: TryOptions): Promise<Config> => {
  const file = findConfig(process.cwd(), config);
  if (file === undefined)
    throw new CommandFailure(`there is no ${CONFIG_FILES.join(' or ')} in this folder. Name one with --config`);
  return loadConfig(file);
};

const operationIn = ({ operations }: Config, name: string): Operation => {
  const operation = Object.values(operations).find((each) => each.operation === name);
  if (operation) return operation;
  throw new CommandFailure(`there is no operation ${name}. Configured are ${Object.keys(operations).join(', ')}`);
};

const payloadsIn = (given: readonly string[], { file }: TryOptions): readonly string[] => {
  if (file !== undefined && given.length > 0) throw new WrongUsage('give either payloads or --file');
  const payloads = file === undefined ? given : readLines(file);
  if (payloads.length === 0)
    throw new WrongUsage(`give the payload of at least one task, e.g.  groupage try send-push '{"project":"shop"}'`);
  return payloads;
};

const readLines = (file: string): readonly string[] => {
  try {
    return readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line.trim() !== '');
  } catch (cause) {
    throw new CommandFailure(`${file} cannot be read: ${reasonOf(cause)}`);
  }
};

/** The batch. Its ids are new each time, so that an API that recognises repeats processes it. */
const callOf = (operation: Operation, payloads: readonly string[]): Call => {
  const { maxSize } = operation.batch;
  if (payloads.length > maxSize)
    throw new CommandFailure(`a batch has at most ${plural(maxSize, 'task')} (batch.maxSize), not ${payloads.length}`);
  const run = ulid();
  const items = payloads.map((payload, n) => ({ id: `try-${run}-${n + 1}` as TaskId, payload }));
  const targets = items.map(({ id, payload }, n) => targetIn(operation, payload, id, n + 1));
  const [target] = targets as [Target, ...Target[]];
  const other = targets.findIndex((each) => each !== target);
  if (other > 0)
    throw new CommandFailure(
      `payloads 1 and ${other + 1} differ in a field of "target" (${target} and ${targets[other]}), so they never share a batch: try them one at a time`,
    );
  return { batchId: batchIdOf(target, 1, 1), operation: operation.operation, target, attempt: 1, items };
};

const targetIn = (operation: Operation, payload: string, id: TaskId, number: number): Target => {
  const problem = notAPayload(payload);
  if (problem) throw new CommandFailure(`payload ${number} ${problem} (in a file, write one payload on each line)`);
  // A batch of a sharded operation has tasks of one shard. Here it may have any.
  const target = targetOf({ ...operation, shards: 1 }, JSON.parse(payload) as object, id, payload);
  if (typeof target === 'string') return target;
  throw new CommandFailure(target.map((each) => `payload ${number}: ${describeProblem(each)}`).join('\n'));
};

/** What calls need from AWS, with the credentials of the environment. */
const inAws = async (): Promise<{ readonly secrets: Secrets } & Pick<CallSurroundings, 'sign'>> => {
  const [{ awsSecrets, secretClients }, { callSigner }] = await Promise.all([
    import('../../../../src/aws/secrets.ts'),
    import('../../../../src/aws/signed-request.ts'),
  ]);
  const clients = secretClients();
  const { region, credentials, sha256 } = clients.ssm.config;
  return { secrets: awsSecrets(clients, Date.now), sign: callSigner(() => ({ region, credentials, sha256 })) };
};

const showRequest = (target: HttpTarget, call: Call, { json }: TryOptions): void => {
  const written = writeCall(target, call);
  const tasks = 'kind' in written ? understood(written, call.items, false) : unfitIn(written.unfit);
  if ('kind' in written) console.log(json ? printJson(JSON.stringify({ tasks })) : describeTasks(tasks));
  else {
    const { method, url, contentType, body } = written;
    const request = { method, url, headers: { 'content-type': contentType }, body };
    console.log(
      json
        ? printJson(JSON.stringify({ request, tasks }))
        : [describeRequest(request), ...(tasks.length > 0 ? [describeTasks(tasks)] : []), 'Nothing was sent.'].join(
            '\n\n',
          ),
    );
  }
  if (tasks.length > 0) process.exitCode ||= 1;
};

const unfitIn = (unfit: ReadonlyMap<TaskId, TaskError>): readonly Understood[] =>
  [...unfit].map(([id, { code, message }]) => ({ id, is: 'failed', why: `${code}: ${message}` }));

/** Most characters of a body that are shown. */
const SHOWN = 2_000;
/** A body as it is, with its line breaks. */
const bodyLines = (body: string): string => {
  const shown = body.length > SHOWN ? `${body.slice(0, SHOWN)}… (${plural(body.length, 'character')})` : body;
  return shown.split('\n').map(printable).join('\n').trimEnd();
};

const headerLines = (headers: Readonly<Record<string, string>>): string =>
  Object.entries(headers)
    .map(([name, value]) => dim(`  ${printable(name)}: ${printable(value)}\n`))
    .join('');

const describeRequest = ({
  method,
  url,
  headers,
  body,
}: Pick<Exchange, 'method' | 'url' | 'headers' | 'body'>): string =>
  `${method} ${printable(url)}\n${headerLines(headers)}${bodyLines(body)}`;

const describeExchange = ({ answer, took, ...request }: Exchange): string => {
  const said =
    'failure' in answer
      ? red(`${printable(answer.failure)} (after ${took} ms)`)
      : `${answer.status} after ${took} ms\n${headerLines(answer.headers)}${bodyLines(answer.body)}`;
  return `${describeRequest(request)}\n\n${said.trimEnd()}`;
};

const describeTasks = (tasks: readonly Understood[]): string =>
  table(
    ['TASK', 'READ AS', ''],
    tasks.map(({ id, is, why }) => [id, is, why]),
  );

const describe = (
  exchanges: readonly Exchange[],
  tasks: readonly Understood[],
  consequence: string | undefined,
): string => {
  const done = tasks.filter(({ is }) => is === 'succeeded').length;
  const sum = `${done} of ${plural(tasks.length, 'task')} succeeded.`;
  return [
    ...exchanges.map(describeExchange),
    describeTasks(tasks),
    ...(consequence === undefined ? [] : [consequence]),
    done === tasks.length ? green(sum) : red(sum),
  ].join('\n\n');
};
