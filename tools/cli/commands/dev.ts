/** `groupage dev`: runs Groupage on this machine with the configuration of this folder, as `npm start` does in a clone. */
import { isBuiltin } from 'node:module';
import { Command, InvalidArgumentError } from 'commander';
import { CONFIG_FILES } from '../../../src/config/load.ts';
import { CommandFailure } from '../../failure.ts';
import { LOCAL_FOLDER } from '../../local/local-folder.ts';
import { DEFAULT_PORT, HIGHEST_PORT } from '../../local/ports.ts';
import type { LocalOptions } from '../../local/run.ts';
import { Stopping } from '../../local/stopping.ts';

/** Parses the first of three consecutive ports; 0 means any free ports. */
const firstPort = (text: string): number => {
  const value = Number(text);
  if (text === '' || !Number.isInteger(value) || value < 0 || value > HIGHEST_PORT)
    throw new InvalidArgumentError(`Give a number from 0 to ${HIGHEST_PORT}.`);
  return value;
};

export const devCommand = (): Command =>
  new Command('dev')
    .description(`run Groupage on this machine with the configuration of this folder; data is in ${LOCAL_FOLDER}/`)
    .option('--config <file>', `configuration file (default: $GROUPAGE_CONFIG, or ${CONFIG_FILES.join(' or ')})`)
    .option(
      '--port <n>',
      'port of the API and the console; DynamoDB and SQS use the next two (0: any free ports)',
      firstPort,
      DEFAULT_PORT,
    )
    .option('--ephemeral', 'keep data in memory, and lose it at the end', false)
    .option('--quiet', 'do not print a line for each batch', false)
    .action(async (options: LocalOptions) => {
      // Before the local stack is loaded, so that Ctrl-C also works meanwhile.
      const stopping = new Stopping();
      const { runLocally } = await loadLocalStack();
      await runLocally(options, { start: 'npx groupage dev', cli: 'npx groupage' }, stopping);
    });

/** Only this command loads the local stack. Its packages are optional, and others may have left them out. */
const loadLocalStack = async (): Promise<typeof import('../../local/run.ts')> => {
  if (!isBuiltin('node:sqlite'))
    throw new CommandFailure(
      `groupage dev needs Node.js 22.13 or newer, and this is Node.js ${process.versions.node}. Install a newer one`,
    );
  try {
    return await import('../../local/run.ts');
  } catch (cause) {
    if (!(cause instanceof Error && 'code' in cause && cause.code === 'ERR_MODULE_NOT_FOUND')) throw cause;
    throw new CommandFailure(
      `the packages of the local stack are not installed (${cause.message.split('\n')[0]}). They are optional dependencies of groupage: run npm install without --omit=optional`,
      { cause },
    );
  }
};
