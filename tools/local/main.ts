/** `npm start`: Groupage on this machine. */

import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { EXAMPLE_CONFIG, findConfig, InvalidConfig, loadConfig } from '../../src/config/load.ts';
import type { Config } from '../../src/domain/config/resolved.ts';
import { operationOf } from '../../src/domain/ids.ts';
import { NewerRow } from '../../src/ports/rows.ts';
import { reasonOf } from '../../src/util/problems.ts';
import { localConsole } from '../console/server/local-console.ts';
import { builtPage } from '../console/server/page-build.ts';
import { StartFailure } from '../failure.ts';
import { plural, printable, whereIs } from '../terminal.ts';
import { describe } from './activity.ts';
import { isWritable, lockFolder } from './folder-lock.ts';
import { LOCAL_FOLDER, NotWritable, writeLocalFile } from './local-folder.ts';
import { missingHere } from './services.ts';
import { type LocalStack, startStack } from './stack.ts';

const USAGE = `npm start [-- OPTION…]: Groupage on this machine

  --config FILE   the configuration (default: groupage.config.ts or .json in this folder, otherwise examples/flights)
  --port N        the API's port; DynamoDB and SQS take the next two (default 4500; 0: any free ones)
  --ephemeral     keep nothing between starts (default: data stays in ${LOCAL_FOLDER}/)
  --quiet         do not show the batches as they go
`;

interface Options {
  readonly config?: string;
  readonly port: number;
  readonly ephemeral: boolean;
  readonly quiet: boolean;
}

const readOptions = (): Options => {
  try {
    const { values } = parseArgs({
      options: {
        config: { type: 'string' },
        port: { type: 'string', default: '4500' },
        ephemeral: { type: 'boolean', default: false },
        quiet: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    });
    if (values.help) exit(USAGE, 0);
    const port = Number(values.port);
    if (!Number.isInteger(port) || port < 0 || port > 65_533)
      throw new TypeError(`--port takes a number from 0 to 65533, not ${values.port}`);
    return { ...values, port };
  } catch (cause) {
    return exit(`${reasonOf(cause)}\n\n${USAGE}`, 2);
  }
};

const exit = (message: string, code: number): never => {
  (code === 0 ? console.log : console.error)(message);
  process.exit(code);
};

/** Lines may hold values of payloads, and what a downstream said. */
const print = (line: string): void => console.log(`${new Date().toTimeString().slice(0, 8)} ${printable(line)}`);

const start = async ({ config: given, port, ephemeral, quiet }: Options): Promise<void> => {
  const from = performance.now();
  const folder = process.cwd();
  const unlock = ephemeral ? lockIfPossible(folder) : lockFolder(folder);
  const own = given ?? findConfig(folder);
  const config = await loadConfig(own ?? EXAMPLE_CONFIG);
  const example = own === undefined ? await startExample(quiet) : undefined;
  // Once an engine is gone every call fails, and says so: nobody needs to read that.
  let isBroken = false;
  const complain = (line: string): void => {
    if (!isBroken) print(`✗ ${line}`);
  };
  const started = Promise.withResolvers<void>();
  // The start is not held up by it; whoever opens the page waits until it is there.
  const page = started.promise.then(() => builtPage());
  const site = localConsole(Object.keys(config.operations), page);
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
        const line = quiet ? undefined : describe(event);
        if (line) print(line);
      },
    },
    onError: (error) => complain(error.message),
    onRestart: (what) => print(printable(`↻ ${what}`)),
  });
  void stack.broken.then(() => {
    isBroken = true;
  });
  let removeFile = (): void => {};
  stopOnSignal(async () => {
    removeFile();
    // What is in hand may still need the example's service.
    await stack.stop();
    await example?.stop();
    // Only now: whoever starts here next takes everything that is under way for abandoned.
    unlock?.();
  }, stack.broken);
  const isFound = unlock !== undefined && (!ephemeral || isWritable(folder));
  if (isFound) removeFile = writeLocalFile(folder, stack.addresses);
  console.log(welcome(stack, config, own && relative(folder, own), (performance.now() - from) / 1_000));
  started.resolve();
  void page.then((built) => built.ok || print(`! ${built.reason}; everything else works`));
  if (!isFound) print(`${folder} cannot be written, so commands have to be told: --api ${stack.addresses.api}`);
};

/** What keeps nothing also runs where nothing can be kept. */
const lockIfPossible = (folder: string): (() => void) | undefined => {
  try {
    return lockFolder(folder);
  } catch (cause) {
    if (cause instanceof NotWritable) return undefined;
    throw cause;
  }
};

/** Without a configuration the example is run, its downstream included, so that there is something to see. */
const startExample = async (quiet: boolean) => {
  const { startDownstream } = await import('../../examples/flights/downstream.ts');
  try {
    return await startDownstream(9_100, (origin, flights, status) => {
      if (!quiet) print(`→ downstream: ${flights} of ${origin} ${status === 200 ? 'taken' : `refused (${status})`}`);
    });
  } catch (cause) {
    throw new StartFailure(
      `the example's downstream needs port 9100: ${reasonOf(cause)}. Free that port, or start with a configuration of your own (--config FILE)`,
    );
  }
};

const welcome = (
  { addresses, recovered }: LocalStack,
  config: Config,
  file: string | undefined,
  seconds: number,
): string => {
  const operations = Object.values(config.operations).map(
    ({ operation, downstream }) => `  ${operation} → ${whereIs(downstream)}`,
  );
  const { targets, batches, orphans } = recovered;
  const again =
    targets + batches > 0
      ? [`Went on with ${plural(targets, 'Target')} and ${plural(batches, 'batch', 'batches')} of the last run.`]
      : [];
  const gone = [...new Set(orphans.map(operationOf))];
  const orphaned =
    orphans.length > 0
      ? [
          `! ${plural(orphans.length, 'Target')} of ${gone.join(', ')} ${orphans.length === 1 ? 'has' : 'have'} tasks, but the operation is not configured: they wait until it is.`,
        ]
      : [];
  return [
    `Groupage is ready (${seconds.toFixed(1)} s), with ${file ?? 'examples/flights, since this folder has no groupage.config.ts or .json'}:`,
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
    ...(file
      ? ['Send a task:  npm run groupage -- send --help']
      : [
          'Send a task:  npm run groupage -- send report-flights \'{"origin":"MUC","destination":"JFK","delay":12}\'',
          'Or thousands: npm run example:flights',
        ]),
    'Ctrl-C drains and stops.',
    '',
  ].join('\n');
};

const stopOnSignal = (stopAll: () => Promise<void>, broken: Promise<string>): void => {
  let stopping = false;
  const stop = async (code: number): Promise<void> => {
    if (stopping) process.exit(code);
    stopping = true;
    await stopAll();
    process.exit(code);
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => {
      if (!stopping) console.log('\nDraining … (again to stop at once)');
      void stop(0);
    });
  void broken.then((why) => {
    console.error(`\n${printable(why)}. Nothing works without it: start again.`);
    void stop(1);
  });
};

try {
  await start(readOptions());
} catch (cause) {
  if (!(cause instanceof InvalidConfig || cause instanceof StartFailure || cause instanceof NewerRow)) throw cause;
  exit(cause.message, 1);
}
