/** Runs Groupage on this machine, for `npm start` and `groupage dev`. */
import { join, relative } from 'node:path';
import { CONFIG_FILES, findConfig, InvalidConfig, loadConfig } from '../../src/config/load.ts';
import type { Config } from '../../src/domain/config/resolved.ts';
import { type BatchId, operationOf, type Target } from '../../src/domain/ids.ts';
import { NewerRow } from '../../src/ports/rows.ts';
import { localConsole } from '../console/server/local-console.ts';
import { builtPage } from '../console/server/page-build.ts';
import { CommandFailure, PortInUse, StartFailure } from '../failure.ts';
import { plural, printable, whereIs } from '../terminal.ts';
import { describe } from './activity.ts';
import { isWritable, lockFolder } from './folder-lock.ts';
import { LOCAL_FOLDER, NotWritable, writeLocalFile } from './local-folder.ts';
import { operationOfBatch } from './recover.ts';
import { missingHere } from './services.ts';
import { type LocalStack, startStack } from './stack.ts';
import type { Stopping } from './stopping.ts';

export interface LocalOptions {
  /** Configuration file, if the user names one. */
  readonly config?: string;
  /** Port of the API. 0 means any free ports. */
  readonly port: number;
  readonly ephemeral: boolean;
  readonly quiet: boolean;
}

/** The example that starts if the user has no configuration. */
export interface Example {
  /** The configuration file. */
  readonly config: string;
  /** What the user reads instead of the path of the file. */
  readonly name: string;
  /** Commands that send tasks of the example. */
  readonly hints: readonly string[];
  /** Starts its downstream, before the configuration is loaded. @throws StartFailure */
  start(print: (line: string) => void): Promise<{ stop(): Promise<void> }>;
}

/** How the user starts Groupage and its commands. */
export interface Usage {
  /** Starts Groupage. Options may follow. */
  readonly start: string;
  /** Runs a command of the command line, which follows. */
  readonly cli: string;
  /** Absent if a configuration is required. */
  readonly example?: Example;
}

/** Prints a line safely: it may contain values of payloads and text from a downstream. */
const print = (line: string): void => console.log(`${new Date().toTimeString().slice(0, 8)} ${printable(line)}`);

/**
 * Starts everything, and resolves when it is ready. It then runs until a signal arrives.
 *
 * @throws CommandFailure if it cannot start; the message says what to do
 */
export const runLocally = async (options: LocalOptions, usage: Usage, stopping: Stopping): Promise<void> => {
  try {
    await start(options, usage, stopping);
  } catch (cause) {
    if (cause instanceof PortInUse)
      throw new CommandFailure(
        `port ${cause.port} is in use by another program, so Groupage was not started. Choose other ports: ${usage.start} --port N (the API uses N, DynamoDB and SQS the next two; 0 means any free ports)`,
        { cause },
      );
    if (cause instanceof InvalidConfig || cause instanceof StartFailure || cause instanceof NewerRow)
      throw new CommandFailure(cause.message, { cause });
    throw cause;
  }
};

const start = async (
  { config: given, port, ephemeral, quiet }: LocalOptions,
  usage: Usage,
  stopping: Stopping,
): Promise<void> => {
  const from = performance.now();
  const folder = process.cwd();
  const own = findConfig(folder, given);
  const file = own ?? usage.example?.config;
  if (file === undefined) throw new StartFailure(noConfiguration(usage));
  const unlock = ephemeral ? lockIfPossible(folder) : lockFolder(folder);
  const say = (line: string): void => {
    if (!quiet) print(line);
  };
  const example = own === undefined ? await usage.example?.start(say) : undefined;
  const config = await loadConfig(file);
  // Without an engine every call fails. Do not print these errors.
  let isBroken = false;
  const complain = (line: string): void => {
    if (!isBroken) print(`✗ ${line}`);
  };
  const started = Promise.withResolvers<void>();
  // Build the page after the start. A browser that opens it earlier waits for it.
  const page = started.promise.then(() => builtPage());
  const site = localConsole(Object.keys(config.operations), page, ephemeral ? undefined : keptIn(folder));
  const stack = await startStack({
    config,
    apiPort: port,
    console: site.around,
    ports: port === 0 ? { dynamodb: 0, sqs: 0 } : { dynamodb: port + 1, sqs: port + 2 },
    ...(ephemeral ? {} : { folder: join(folder, LOCAL_FOLDER) }),
    host: {
      log: {
        info: () => {},
        warn: () => {},
        error: (message, fields) => complain(`${message} ${JSON.stringify(fields)}`),
      },
      onEvent: (event) => {
        site.onEvent(event);
        const line = describe(event);
        if (line) say(line);
      },
    },
    onError: (error) => complain(error.message),
    onRestart: (what) => print(printable(`↻ ${what}`)),
  });
  let removeFile = (): void => {};
  stopping.running(async () => {
    removeFile();
    // Invocations under way may still call the example's downstream, so stop it last.
    await stack.stop();
    await site.stop();
    await example?.stop();
    // Unlock last: the next start in this folder takes over all work that is under way.
    unlock?.();
  });
  void stack.broken.then((why) => {
    isBroken = true;
    void stopping.fail(`\n${printable(why)}. Groupage cannot run without this program. Start Groupage again.`);
  });
  const isFound = unlock !== undefined && (!ephemeral || isWritable(folder));
  if (isFound) removeFile = writeLocalFile(folder, stack.addresses);
  console.log(welcome(stack, config, own && relative(folder, own), usage, (performance.now() - from) / 1_000));
  started.resolve();
  void page.then((built) => built.ok || print(`! ${built.reason}. Everything else works`));
  if (!isFound)
    print(
      `${folder} cannot be written, so commands do not find this stack. Add this option to each command: --api ${stack.addresses.api}`,
    );
};

/** Where the console's metrics are kept over a restart. */
const keptIn = (folder: string) => ({
  file: join(folder, LOCAL_FOLDER, 'metrics.json'),
  report: (line: string): void => print(`! ${line}`),
});

/** An ephemeral stack also runs in a read-only folder. */
const lockIfPossible = (folder: string): (() => void) | undefined => {
  try {
    return lockFolder(folder);
  } catch (cause) {
    if (cause instanceof NotWritable) return undefined;
    throw cause;
  }
};

/** A configuration as short as possible, for users who have none. */
const SHORTEST = {
  operations: {
    'send-mail': { target: ['customer'], downstream: { kind: 'http', url: 'http://127.0.0.1:3000/batch' } },
  },
};

const noConfiguration = ({ start: command }: Usage): string =>
  `This folder has no ${CONFIG_FILES.join(' or ')}, so there is nothing to start. Write one, for example ${CONFIG_FILES[1]}:

${JSON.stringify(SHORTEST, null, 2)}

Groupage then puts the send-mail tasks of one customer into a batch, and sends the batch to the URL. Run ${command} again, or name a file elsewhere: ${command} --config FILE`;

const welcome = (
  { addresses, recovered }: LocalStack,
  config: Config,
  file: string | undefined,
  { cli, example }: Usage,
  seconds: number,
): string => {
  const operations = Object.values(config.operations).map(
    ({ operation, downstream }) => `  ${operation} → ${whereIs(downstream)}`,
  );
  const { targets, batches, orphans, orphanedBatches } = recovered;
  const again =
    targets + batches > 0
      ? [`Resumed ${plural(targets, 'Target')} and ${plural(batches, 'batch', 'batches')} of the previous run.`]
      : [];
  const orphaned = orphanLines(orphans, orphanedBatches);
  return [
    `Groupage is ready (${seconds.toFixed(1)} s), with ${file ?? `${example?.name} (this folder has no ${CONFIG_FILES[0]} or .json)`}:`,
    ...operations,
    '',
    `  Console   ${addresses.console}`,
    `  API       ${addresses.api}`,
    `  SQS       ${addresses.sqs}`,
    `  DynamoDB  ${addresses.dynamodb}`,
    `  register  ${addresses.queues.register}`,
    ...again,
    ...orphaned,
    ...missingHere(config, process.env).map((sentence) => `! ${sentence}`),
    '',
    ...(file || !example ? [`Send a task:  ${cli} send --help`] : example.hints),
    'Press Ctrl-C to finish the work under way and stop.',
    '',
  ].join('\n');
};

/** A line for each operation that is not configured, but has work. The API refuses to cancel tasks of such an operation. */
const orphanLines = (targets: readonly Target[], batches: readonly BatchId[]): readonly string[] => {
  const gone = [...new Set([...targets.map(operationOf), ...batches.map(operationOfBatch)])];
  return gone.map((operation) => {
    const waiting = targets.filter((each) => operationOf(each) === operation).length;
    const open = batches.filter((each) => operationOfBatch(each) === operation).length;
    const work = [
      ...(waiting > 0 ? [`${plural(waiting, 'Target')} of ${operation} ${waiting === 1 ? 'has' : 'have'} tasks`] : []),
      ...(open > 0
        ? [`${plural(open, 'batch', 'batches')} of ${operation} ${open === 1 ? 'has' : 'have'} not ended`]
        : []),
    ].join(', and ');
    return `! ${work}, but the operation is not configured. These tasks wait; nothing is lost. Configure it again and restart: they continue.${waiting > 0 ? ` To drop waiting tasks, then run groupage pause ${operation}, and groupage cancel ID for each` : ''}`;
  });
};
