/** In which region of AWS to look and to deploy. */
import type { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import type { Environment } from '../../src/domain/deployed/environment.ts';
import { reasonOf } from '../../src/util/problems.ts';
import { CommandFailure } from '../failure.ts';

/**
 * `AWS_REGION`, `AWS_DEFAULT_REGION`, or that of the profile: the same for every tool that we start, although the SDK
 * does not know the second one and `cdk` takes us-east-1 where there is none.
 *
 * @param ofProfile finds the profile's, as the SDK does.
 * @throws CommandFailure
 */
export const regionOf = async (
  { AWS_REGION, AWS_DEFAULT_REGION }: Environment,
  ofProfile: CloudFormationClient['config']['region'],
): Promise<string> => {
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
