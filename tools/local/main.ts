/** `npm start`: runs Groupage on this machine. */

import { join, relative } from 'node:path';
import { EXAMPLE_CONFIG, findConfig, InvalidConfig, loadConfig } from '../../src/config/load.ts';
import type { Config } from '../../src/domain/config/resolved.ts';
import { operationOf } from '../../src/domain/ids.ts';
import { NewerRow } from '../../src/ports/rows.ts';
import { reasonOf } from '../../src/util/problems.ts';
import { localConsole } from '../console/server/local-console.ts';
import { builtPage } from '../console/server/page-build.ts';
import { StartFailure } from '../failure.ts';
import { parseOptions } from '../options.ts';
import { plural, printable, whereIs } from '../terminal.ts';
import { describe } from './activity.ts';
import { isWritable, lockFolder } from './folder-lock.ts';
import { LOCAL_FOLDER, NotWritable, writeLocalFile } from './local-folder.ts';
import { missingHere } from './services.ts';
import { type LocalStack, startStack } from './stack.ts';

const USAGE = `npm start [-- OPTION…]: run Groupage on this machine

  --config FILE   configuration file (default: groupage.config.ts or .json in this folder, or else examples/flights)
  --port N        port of the API; DynamoDB and SQS use the next two (default: 4500; 0 means any free ports)
  --ephemeral     keep data in memory, and lose it at the end (default: store it in ${LOCAL_FOLDER}/)
  --quiet         do not print a line for each batch
`;

interface Options {
  readonly config?: string;
  readonly port: number;
  readonly ephemeral: boolean;
  readonly quiet: boolean;
}

const readOptions = (): Options => {
  try {
    const values = parseOptions(process.argv.slice(2), {
      config: { type: 'string' },
      port: { type: 'string', default: '4500' },
      ephemeral: { type: 'boolean', default: false },
      quiet: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
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

/** Prints a line safely: it may contain values of payloads and text from a downstream. */
const print = (line: string): void => console.log(`${new Date().toTimeString().slice(0, 8)} ${printable(line)}`);

const start = async ({ config: given, port, ephemeral, quiet }: Options): Promise<void> => {
  const from = performance.now();
  const folder = process.cwd();
  const unlock = ephemeral ? lockIfPossible(folder) : lockFolder(folder);
  const own = given ?? findConfig(folder);
  const config = await loadConfig(own ?? EXAMPLE_CONFIG);
  const example = own === undefined ? await startExample(quiet) : undefined;
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
    // Invocations under way may still call the example's downstream, so stop it last.
    await stack.stop();
    await site.stop();
    await example?.stop();
    // Unlock last: the next start in this folder takes over all work that is under way.
    unlock?.();
  }, stack.broken);
  const isFound = unlock !== undefined && (!ephemeral || isWritable(folder));
  if (isFound) removeFile = writeLocalFile(folder, stack.addresses);
  console.log(welcome(stack, config, own && relative(folder, own), (performance.now() - from) / 1_000));
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

/** Without a configuration, the example and its downstream are started. */
const startExample = async (quiet: boolean) => {
  const { startDownstream } = await import('../../examples/flights/downstream.ts');
  try {
    return await startDownstream(9_100, (origin, flights, status) => {
      if (!quiet) print(`→ downstream: ${flights} of ${origin} ${status === 200 ? 'accepted' : `refused (${status})`}`);
    });
  } catch (cause) {
    throw new StartFailure(
      `the example's downstream needs port 9100: ${reasonOf(cause)}. Free that port, or use your own configuration (--config FILE)`,
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
      ? [`Resumed ${plural(targets, 'Target')} and ${plural(batches, 'batch', 'batches')} of the previous run.`]
      : [];
  const gone = [...new Set(orphans.map(operationOf))];
  const orphaned =
    orphans.length > 0
      ? [
          `! ${plural(orphans.length, 'Target')} of ${gone.join(', ')} ${orphans.length === 1 ? 'has' : 'have'} tasks, but the operation is not configured. These tasks wait until it is configured again.`,
        ]
      : [];
  return [
    `Groupage is ready (${seconds.toFixed(1)} s), with ${file ?? 'examples/flights (this folder has no groupage.config.ts or .json)'}:`,
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
    'Press Ctrl-C to finish the work under way and stop.',
    '',
  ].join('\n');
};

const stopOnSignal = (stopAll: () => Promise<void>, broken: Promise<string>): void => {
  let stopping = false;
  const stop = async (code: number): Promise<void> => {
    if (stopping) process.exit(code);
    stopping = true;
    await stopAll();
    if (code === 0) console.log('Stopped.');
    process.exit(code);
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => {
      if (!stopping) console.log('\nFinishing the work under way … (press Ctrl-C again to stop now)');
      void stop(0);
    });
  void broken.then((why) => {
    console.error(`\n${printable(why)}. Groupage cannot run without this program. Start Groupage again.`);
    void stop(1);
  });
};

try {
  await start(readOptions());
} catch (cause) {
  if (!(cause instanceof InvalidConfig || cause instanceof StartFailure || cause instanceof NewerRow)) throw cause;
  exit(cause.message, 1);
}
