/** The profile of AWS's own files that the environment names. */
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Environment } from '../../src/domain/deployed/environment.ts';
import { CommandFailure } from '../failure.ts';

/**
 * With a profile that does not exist the SDK finds no region and no credentials, and says neither why nor its name.
 *
 * @throws CommandFailure
 */
export const expectProfile = ({ AWS_PROFILE, ...environment }: Environment): void => {
  if (!AWS_PROFILE) return;
  const files = [
    environment.AWS_CONFIG_FILE || join(homedir(), '.aws', 'config'),
    environment.AWS_SHARED_CREDENTIALS_FILE || join(homedir(), '.aws', 'credentials'),
  ];
  const profiles = [...new Set(files.flatMap(profilesIn))];
  if (profiles.includes(AWS_PROFILE)) return;
  const there = profiles.length > 0 ? `there are ${profiles.join(', ')}` : 'there is none';
  throw new CommandFailure(
    `AWS_PROFILE names the profile ${JSON.stringify(AWS_PROFILE)}, which is neither in ${files.join(' nor in ')} (${there}): name another, make it with \`aws configure --profile NAME\`, or unset AWS_PROFILE`,
  );
};

/** The one file has `[profile NAME]`, the other `[NAME]`; `[sso-session NAME]` and the like are something else. */
const HEADING = /^[ \t]*\[[ \t]*(?:profile[ \t]+)?["']?([^\]"'\s]+)["']?[ \t]*\]/gm;

/** A file that is not there, or cannot be read, has none. */
const profilesIn = (file: string): string[] => {
  try {
    return [...readFileSync(file, 'utf8').matchAll(HEADING)].map(([, name = '']) => name);
  } catch {
    return [];
  }
};
