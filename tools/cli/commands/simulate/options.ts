/** Options of `groupage simulate`, checked before the simulation starts. */
import { createWriteStream, existsSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { temporaryFolder } from '../../../../lib/temporary-folder.ts';
import { CONFIG_FILES, EXAMPLE_CONFIG, findConfig, InvalidConfig, readConfig } from '../../../../src/config/load.ts';
import { type Config, type Operation, operationNamed } from '../../../../src/domain/config/resolved.ts';
import { parseConfig } from '../../../../src/domain/config/schema/config.ts';
import { describeInBrief, type Parsed } from '../../../../src/util/problems.ts';
import { CommandFailure, WrongUsage } from '../../../failure.ts';
import { type Aim, aimFrom } from '../../../simulate/aims.ts';
import { downstreamFrom, QUICK } from '../../../simulate/downstream.ts';
import type { Setting, Source } from '../../../simulate/job.ts';
import { type Load, loadFrom, loadProblems } from '../../../simulate/load.ts';
import { AWS, LOCAL } from '../../../simulate/platform.ts';
import { type Axes, axesFrom } from '../../../simulate/vary.ts';
import { sizeOf } from '../../shared/lines.ts';

export interface SimulateOptions {
  readonly config?: string;
  readonly trace?: string;
  readonly load?: string;
  readonly operation?: string;
  readonly downstream?: string;
  readonly local?: boolean;
  readonly seed?: string;
  readonly vary?: readonly string[];
  readonly recommend?: boolean;
  readonly aim?: readonly string[];
  readonly out?: string;
  readonly json?: boolean;
}

export interface Asked {
  readonly setting: Setting;
  readonly config: Config;
  /** Approximate number of tasks, if known. */
  readonly expected?: number;
  /** The operation whose policy is varied; undefined if several are configured and none is named. */
  readonly subject: { readonly input: unknown; readonly operation: Operation } | undefined;
  readonly axes: Axes | undefined;
  /** The aims that a recommended policy must meet. */
  readonly aims: readonly Aim[] | undefined;
}

/** @throws WrongUsage for invalid options; InvalidConfig; CommandFailure for files that cannot be read */
export const askedOf = async (options: SimulateOptions): Promise<Asked> => {
  const { trace, load } = options;
  if ((trace === undefined) === (load === undefined))
    throw new WrongUsage('give the tasks: either --trace FILE or --load TEXT');
  const downstream =
    options.downstream === undefined ? QUICK : right('--downstream', downstreamFrom(options.downstream));
  const axes = options.vary === undefined ? undefined : right('--vary', axesFrom(options.vary.join(' ')));
  const aims = aimsIn(options);
  checkOut(options.out);
  const seed = seedIn(options.seed);
  const described = load === undefined ? undefined : right('--load', loadFrom(load));
  const { input, config } = await configured(options.config);
  const operation = operationOf(config, options.operation);
  if (operation === undefined && (axes ?? aims) !== undefined)
    throw new WrongUsage(
      'several operations are configured. With --operation, name the operation whose policy is varied',
    );
  const subject = operation && { input, operation };
  const surroundings = options.local ? LOCAL : AWS;
  const asked = { config, subject, axes, aims };
  const setting = { downstream, surroundings, seed };
  if (described === undefined) return { ...asked, setting: { ...setting, source: await traceAt(trace ?? '') } };
  return {
    ...asked,
    setting: { ...setting, source: loadOf(described, operation) },
    expected: tasksIn(described),
  };
};

/**
 * Checked first, because a simulation may take minutes. @throws WrongUsage for another file type; CommandFailure if the
 * folder does not exist
 */
const checkOut = (file: string | undefined): void => {
  if (file === undefined) return;
  if (!['.html', '.svg'].includes(extname(file)))
    throw new WrongUsage('--out takes a file name that ends in .html (a page with all results) or .svg (one picture)');
  if (!existsSync(dirname(file)))
    throw new CommandFailure(`${file} cannot be written: the folder ${dirname(file)} does not exist`);
};

const right = <T>(option: string, parsed: Parsed<T>): T => {
  if (parsed.ok) return parsed.value;
  throw new WrongUsage(`${option}: ${describeInBrief(parsed.problems)}`);
};

const aimsIn = ({ recommend = false, aim = [] }: SimulateOptions): readonly Aim[] | undefined => {
  if (recommend !== aim.length > 0)
    throw new WrongUsage('--recommend needs --aim and --aim needs --recommend, e.g. --recommend --aim "p99 wait < 5s"');
  return recommend ? aim.map((text) => right('--aim', aimFrom(text))) : undefined;
};

const seedIn = (text = '1'): number => {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new WrongUsage('--seed takes a whole number from 0 to 999,999,999');
};

const configured = async (given: string | undefined): Promise<{ readonly input: unknown; readonly config: Config }> => {
  const own = findConfig(process.cwd(), given);
  if (own === undefined && !existsSync(EXAMPLE_CONFIG))
    throw new CommandFailure(
      `there is no ${CONFIG_FILES.join(' or ')} in this folder. Create this file, or name a configuration file with --config`,
    );
  if (own === undefined)
    console.error(
      `There is no ${CONFIG_FILES.join(' or ')} in this folder. This simulation uses the example, examples/flights:\n`,
    );
  const file = own ?? EXAMPLE_CONFIG;
  const input = await readConfig(file);
  const parsed = parseConfig(input);
  if (!parsed.ok) throw new InvalidConfig(file, parsed.problems);
  return { input, config: parsed.value };
};

/** The named operation, or the only one. */
const operationOf = (config: Config, name: string | undefined): Operation | undefined => {
  const all = Object.values(config.operations);
  if (name === undefined) return all.length === 1 ? all[0] : undefined;
  const found = operationNamed(config, name);
  if (found) return found;
  throw new WrongUsage(
    `--operation names an operation that is not configured. Configured: ${Object.keys(config.operations).join(', ')}`,
  );
};

const loadOf = (load: Load, operation: Operation | undefined): Source => {
  if (operation === undefined)
    throw new WrongUsage(
      'several operations are configured. With --operation, name the operation that receives the load',
    );
  const problems = loadProblems(load, operation);
  if (problems.length > 0) throw new WrongUsage(`--load: ${describeInBrief(problems)}`);
  return { kind: 'load', load, operation: operation.operation };
};

const tasksIn = ({ rate, bursts, duration }: Load): number =>
  Math.ceil((rate * duration) / 1_000 + (bursts === null ? 0 : (bursts.size * duration) / bursts.every));

/** A trace is read once per policy, so copy standard input into a temporary file. */
const traceAt = async (file: string): Promise<Source> => {
  if (file !== '-') {
    sizeOf(file);
    return { kind: 'trace', path: file, name: file };
  }
  const path = join(temporaryFolder('trace'), 'trace');
  await pipeline(process.stdin, createWriteStream(path));
  return { kind: 'trace', path, name: '-' };
};
