/** `npm start`: runs Groupage on this machine, with an example if the folder has no configuration. */
import { LOCAL_FOLDER } from './local-folder.ts';
import { DEFAULT_PORT, HIGHEST_PORT } from './ports.ts';
import { Stopping } from './stopping.ts';

// Before the other modules are loaded, so that Ctrl-C also works meanwhile.
const stopping = new Stopping();
const { CommandFailure } = await import('../failure.ts');
const { reasonOf } = await import('../../src/util/problems.ts');
const { parseOptions } = await import('../options.ts');
const { runLocally } = await import('./run.ts');
const { EXAMPLE_PORT, exampleOn } = await import('./example.ts');

const START = 'npm start --';

const USAGE = `npm start [-- OPTION…]: run Groupage on this machine

  --config FILE      configuration file (default: groupage.config.ts or .json in this folder, or else examples/flights)
  --port N           port of the API; DynamoDB and SQS use the next two (default: ${DEFAULT_PORT}; 0 means any free ports)
  --ephemeral        keep data in memory, and lose it at the end (default: store it in ${LOCAL_FOLDER}/)
  --quiet            do not print a line for each batch
  --example-port N   port of the example's downstream (default: ${EXAMPLE_PORT})
`;

const portIn = (name: string, text: string, lowest: number, highest: number): number => {
  const port = Number(text);
  if (!Number.isInteger(port) || port < lowest || port > highest)
    throw new TypeError(`--${name} takes a number from ${lowest} to ${highest}, not ${text}`);
  return port;
};

const readOptions = () => {
  try {
    const values = parseOptions(process.argv.slice(2), {
      config: { type: 'string' },
      port: { type: 'string', default: String(DEFAULT_PORT) },
      ephemeral: { type: 'boolean', default: false },
      quiet: { type: 'boolean', default: false },
      'example-port': { type: 'string', default: String(EXAMPLE_PORT) },
      help: { type: 'boolean', default: false },
    });
    if (values.help) exit(USAGE, 0);
    const examplePort = portIn('example-port', values['example-port'], 1, 65_535);
    return { ...values, port: portIn('port', values.port, 0, HIGHEST_PORT), examplePort };
  } catch (cause) {
    return exit(`${reasonOf(cause)}\n\n${USAGE}`, 2);
  }
};

const exit = (message: string, code: number): never => {
  (code === 0 ? console.log : console.error)(message);
  process.exit(code);
};

const { examplePort, ...options } = readOptions();
try {
  await runLocally(
    options,
    { start: START, cli: 'npm run groupage --', example: exampleOn(examplePort, START) },
    stopping,
  );
} catch (cause) {
  if (!(cause instanceof CommandFailure)) throw cause;
  exit(cause.message, 1);
}
