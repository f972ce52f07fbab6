/** The AWS region and profile that commands use. */

import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import type { Environment } from '../../src/domain/deployed/environment.ts';
import { reasonOf } from '../../src/util/problems.ts';
import { CommandFailure } from '../failure.ts';

/**
 * The region from `AWS_REGION`, `AWS_DEFAULT_REGION` or the profile. Resolved once for all tools that a command starts,
 * because the SDK ignores `AWS_DEFAULT_REGION` and `cdk` falls back to us-east-1.
 *
 * @param ofProfile reads the region of the profile, as the SDK does.
 * @throws CommandFailure without a region, or if the profile does not exist.
 */
export const regionOf = async (
  environment: Environment,
  ofProfile: CloudFormationClient['config']['region'],
): Promise<string> => {
  expectProfile(environment);
  const { AWS_REGION, AWS_DEFAULT_REGION } = environment;
  const region = AWS_REGION || AWS_DEFAULT_REGION || (await ofProfileInWords(ofProfile));
  // The region becomes part of a host name.
  if (!REGION.test(region))
    throw new CommandFailure(
      `${JSON.stringify(region)} is not an AWS region. Set AWS_REGION, e.g. AWS_REGION=eu-central-1`,
    );
  return region;
};

const REGION = /^[a-z0-9-]{1,63}$/i;

const ofProfileInWords = async (ofProfile: CloudFormationClient['config']['region']): Promise<string> => {
  try {
    return await ofProfile();
  } catch (cause) {
    throw new CommandFailure(
      `no AWS region is set (${reasonOf(cause)}). Set AWS_REGION, e.g. AWS_REGION=eu-central-1, or a region in your AWS profile`,
      { cause },
    );
  }
};

/**
 * Without this check the SDK reports a missing region or missing credentials, but not that the profile does not exist.
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
  const there = profiles.length > 0 ? `existing profiles: ${profiles.join(', ')}` : 'there are no profiles';
  throw new CommandFailure(
    `AWS_PROFILE is ${JSON.stringify(AWS_PROFILE)}, but neither ${files.join(' nor ')} contains this profile (${there}). Use another profile, create it with \`aws configure --profile NAME\`, or unset AWS_PROFILE`,
  );
};

/** The config file has `[profile NAME]`, the credentials file `[NAME]`. Other sections, such as `[sso-session NAME]`, do not match. */
const HEADING = /^[ \t]*\[[ \t]*(?:profile[ \t]+)?["']?([^\]"'\s]+)["']?[ \t]*\]/gm;

/** A missing or unreadable file contains no profiles. */
const profilesIn = (file: string): string[] => {
  try {
    return [...readFileSync(file, 'utf8').matchAll(HEADING)].map(([, name = '']) => name);
  } catch {
    return [];
  }
};
