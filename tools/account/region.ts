/** In which region of AWS to look and to deploy, and with which profile of AWS's own files. */

import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import type { Environment } from '../../src/domain/deployed/environment.ts';
import { reasonOf } from '../../src/util/problems.ts';
import { CommandFailure } from '../failure.ts';

/**
 * `AWS_REGION`, `AWS_DEFAULT_REGION`, or that of the profile: the same for every tool that we start, although the SDK
 * does not know the second one and `cdk` takes us-east-1 where there is none.
 *
 * @param ofProfile finds the profile's, as the SDK does.
 * @throws CommandFailure without a region, or with a profile that does not exist.
 */
export const regionOf = async (
  environment: Environment,
  ofProfile: CloudFormationClient['config']['region'],
): Promise<string> => {
  expectProfile(environment);
  const { AWS_REGION, AWS_DEFAULT_REGION } = environment;
  const region = AWS_REGION || AWS_DEFAULT_REGION || (await ofProfileInWords(ofProfile));
  // It becomes part of a host's name.
  if (!REGION.test(region))
    throw new CommandFailure(
      `${JSON.stringify(region)} is no AWS region: set AWS_REGION, e.g. AWS_REGION=eu-central-1`,
    );
  return region;
};

const REGION = /^[a-z0-9-]{1,63}$/i;

const ofProfileInWords = async (ofProfile: CloudFormationClient['config']['region']): Promise<string> => {
  try {
    return await ofProfile();
  } catch (cause) {
    throw new CommandFailure(
      `no AWS region is named (${reasonOf(cause)}): set AWS_REGION, e.g. AWS_REGION=eu-central-1, or a region in your AWS profile`,
      { cause },
    );
  }
};

/**
 * With a profile that does not exist the SDK finds no region and no credentials, and says neither why nor its name.
 *
 * @throws CommandFailure
 */
const expectProfile = ({ AWS_PROFILE, ...environment }: Environment): void => {
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
