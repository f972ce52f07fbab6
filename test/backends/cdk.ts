/** The CDK's own command line, as a user of this repository runs it. */
import { execFile } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryFolder } from '../../lib/temporary-folder.ts';
import type { ConfigInput } from '../../src/domain/config/schema/config.ts';
import { type Cloud, environmentOf } from './cloud.ts';

export const ROOT = join(import.meta.dirname, '../..');
const BIN = join(ROOT, 'node_modules/.bin');

export interface Ran {
  readonly code: number;
  readonly output: string;
}

/** Runs a command of this repository against a cloud. */
export const runIn = async (
  cloud: Cloud,
  command: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<Ran> => {
  const options = {
    cwd: ROOT,
    maxBuffer: 64 * 1_024 * 1_024,
    env: { ...process.env, ...environmentOf(cloud), PATH: `${BIN}:${process.env.PATH}`, ...environment },
  };
  try {
    const { stdout, stderr } = await promisify(execFile)(command, args, options);
    return { code: 0, output: stdout + stderr };
  } catch (cause) {
    const { code, stdout, stderr } = cause as { code: unknown; stdout: string; stderr: string };
    if (typeof code !== 'number') throw cause;
    return { code, output: stdout + stderr };
  }
};

/** Runs `cdk` for a stage with a configuration. */
export type Cdk = (command: 'bootstrap' | 'deploy' | 'diff' | 'destroy', ...args: string[]) => Promise<Ran>;

/** @param input the contents of `groupage.config.json`. @param api the context `api` of the app */
export const cdkFor = (cloud: Cloud, stage: string, input: ConfigInput, api?: string): Cdk => {
  const folder = temporaryFolder('deploy');
  const config = join(folder, 'groupage.config.json');
  writeFileSync(config, JSON.stringify(input));
  // Each run has its own output folder, since several may synthesise at once.
  const output = join(folder, 'cdk.out');
  const synthesised = ['-c', `stage=${stage}`, ...(api ? ['-c', `api=${api}`] : []), '--output', output];
  // Destroying needs only the names of the stacks, which the last synthesis has.
  const app = (command: string): string[] =>
    command === 'destroy' && existsSync(join(output, 'manifest.json')) ? ['--app', output] : synthesised;
  const tags = Object.entries(cloud.tags).flatMap(([key, value]) => ['--tags', `${key}=${value}`]);
  return (command, ...args) =>
    runIn(cloud, 'cdk', [command, ...args, ...(command === 'deploy' ? tags : []), ...app(command)], {
      GROUPAGE_CONFIG: config,
      CDK_DISABLE_CLI_TELEMETRY: 'true',
      // Validation repeats the same warnings for each synthesis, and takes most of its time. One run of it is enough.
      ...(command === 'diff' ? {} : { CDK_VALIDATION: 'false' }),
    });
};

/** Deploys or updates all stacks. @throws Error with the output */
export const deployAll = async (cdk: Cdk): Promise<void> => {
  succeeded(await cdk('deploy', '--all', '--require-approval', 'never'));
};

/** Removes all stacks. @throws Error with the output */
export const destroyAll = async (cdk: Cdk): Promise<void> => {
  succeeded(await cdk('destroy', '--all', '--force'));
};

/** Checks that a command succeeded. @throws Error with the output */
export const succeeded = ({ code, output }: Ran): string => {
  if (code !== 0) throw new Error(`exit status ${code}:\n${output}`);
  return output;
};
