/** `npm run deploy` and `npm run destroy`: their options, and how they end. */
import { parseArgs } from 'node:util';
import { InvalidStage } from '../../lib/stage.ts';
import { EXAMPLE_CONFIG, findConfig, InvalidConfig } from '../../src/config/load.ts';
import { reasonOf } from '../../src/util/problems.ts';
import { CommandFailure, WrongUsage } from '../failure.ts';
import { printable } from '../terminal.ts';
import { deploy } from './deploy.ts';
import { destroy } from './destroy.ts';

const USAGE = {
  deploy: `npm run deploy [-- OPTION…]: Groupage into the AWS account of your credentials, or an update of it

  --stage NAME    which one (default: dev); prod, and what begins so (prod-eu), keeps its data when it is removed
  --config FILE   the configuration (default: GROUPAGE_CONFIG, groupage.config.ts or .json in this folder, otherwise
                  examples/flights)
`,
  destroy: `npm run destroy -- --stage NAME [--yes]: removes a stage from the AWS account of your credentials

  --stage NAME    which one
  --yes           of prod too (or prod-…), whose data stays; and what nothing says whose it is
`,
} as const;

type Verb = keyof typeof USAGE;

/** @param args the verb, then its options. @returns the exit status: 0, 1 when it failed, 2 when it was used wrongly. */
export const run = async ([verb = '', ...args]: readonly string[], folder = process.cwd()): Promise<number> => {
  if (verb !== 'deploy' && verb !== 'destroy') return say(`${USAGE.deploy}\n${USAGE.destroy}`, 2);
  try {
    const options = optionsOf(verb, args);
    if (options === 'help') return say(USAGE[verb], 0);
    const { stage, config, yes } = options;
    await (verb === 'deploy'
      ? deploy({ stage, config: findConfig(folder, config) ?? EXAMPLE_CONFIG })
      : destroy({ stage, yes }));
    return 0;
  } catch (cause) {
    if (!(cause instanceof CommandFailure || cause instanceof InvalidConfig || cause instanceof InvalidStage))
      throw cause;
    const lines = cause.message.split('\n').map(printable).join('\n');
    return say(lines, cause instanceof WrongUsage || cause instanceof InvalidStage ? 2 : 1);
  }
};

const say = (text: string, status: number): number => {
  (status === 0 ? console.log : console.error)(text);
  return status;
};

interface Options {
  readonly stage: string;
  readonly config: string | undefined;
  readonly yes: boolean;
}

const optionsOf = (verb: Verb, args: readonly string[]): Options | 'help' => {
  const { stage, config, yes = false, help } = parsed(verb, args);
  if (help) return 'help';
  if (verb === 'destroy' && stage === undefined) throw new WrongUsage(`--stage is missing\n\n${USAGE.destroy}`);
  return { stage: stage ?? 'dev', config, yes };
};

const parsed = (verb: Verb, args: readonly string[]) => {
  const own = verb === 'deploy' ? { config: { type: 'string' } as const } : { yes: { type: 'boolean' } as const };
  try {
    const options = { stage: { type: 'string' }, help: { type: 'boolean' }, ...own } as const;
    return parseArgs({ args: [...args], options }).values as {
      readonly stage?: string;
      readonly config?: string;
      readonly yes?: boolean;
      readonly help?: boolean;
    };
  } catch (cause) {
    throw new WrongUsage(`${reasonOf(cause)}\n\n${USAGE[verb]}`, { cause });
  }
};
