/**
 * Amazon's DynamoDB Local, from the npm package `amplify-dynamodb-simulator`. It is downloaded once and on demand,
 * because it is large and most machines do not need it. It needs a Java runtime from 17 to 23, see `loopback.policy`.
 */

import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { reasonOf } from '../../src/util/problems.ts';
import { StartFailure } from '../failure.ts';

const run = promisify(execFile);
/**
 * Java versions with which DynamoDB Local runs. It does not start with older versions, and newer versions have no
 * security manager, see `loopback.policy`.
 */
const [OLDEST_JAVA, NEWEST_JAVA] = [17, 23];
const PACKAGE = 'amplify-dynamodb-simulator@2.9.30';
const POLICY = join(dirname(fileURLToPath(import.meta.url)), 'loopback.policy');
const CACHE = join(dirname(dirname(dirname(fileURLToPath(import.meta.url)))), '.cache');

/** Why DynamoDB Local cannot run on this machine; undefined if it can. */
export const javaProblem = async (): Promise<string | undefined> => {
  try {
    const { stderr } = await run('java', ['-version']);
    const version = Number(/version "(\d+)/.exec(stderr)?.[1]);
    return version >= OLDEST_JAVA && version <= NEWEST_JAVA
      ? undefined
      : `the Java runtime is ${stderr.split('\n')[0]}, but must be from ${OLDEST_JAVA} to ${NEWEST_JAVA}`;
  } catch (cause) {
    return `there is no Java runtime (${reasonOf(cause).split('\n')[0]}). Install one, e.g. Debian's default-jre-headless`;
  }
};

/** The command that starts DynamoDB Local, without its own options, and the working directory. @throws StartFailure */
export const dynamoDBLocalCommand = async (): Promise<{
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
}> => {
  const problem = await javaProblem();
  if (problem) throw new StartFailure(`DynamoDB Local cannot run here: ${problem}`);
  const folder = await fetchOnce();
  const library = join(folder, 'DynamoDBLocal_lib');
  return {
    command: 'java',
    args: [
      '-Djava.security.manager=default',
      `-Djava.security.policy==${POLICY}`,
      `-Djava.library.path=${library}`,
      '-jar',
      join(folder, 'DynamoDBLocal.jar'),
      '-disableTelemetry',
    ],
    // DynamoDB Local writes a file with an installation id to its working directory, even without telemetry.
    cwd: folder,
  };
};

const fetchOnce = async (): Promise<string> => {
  const folder = join(CACHE, PACKAGE);
  if (existsSync(folder)) return join(folder, 'package', 'emulator');
  const partial = `${folder}.${process.pid}`;
  try {
    mkdirSync(partial, { recursive: true });
    const { stdout } = await run('npm', ['pack', PACKAGE, '--silent', '--pack-destination', partial]);
    await run('tar', ['-xzf', join(partial, stdout.trim().split('\n').at(-1) ?? ''), '-C', partial]);
    // If another process has downloaded the package in the meantime, keep that copy, which is identical.
    if (!existsSync(folder)) renameSync(partial, folder);
  } catch (cause) {
    throw new StartFailure(`${PACKAGE} could not be downloaded with npm: ${reasonOf(cause)}`);
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
  return join(folder, 'package', 'emulator');
};
