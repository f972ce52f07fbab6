/** In which region of AWS to look and to deploy. */
import type { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { reasonOf } from '../batching/problems.ts';
import type { Environment } from '../environment.ts';
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
  const named = AWS_REGION || AWS_DEFAULT_REGION;
  if (named) return named;
  try {
    return await ofProfile();
  } catch (cause) {
    throw new CommandFailure(
      `no AWS region is named (${reasonOf(cause)}): set AWS_REGION, e.g. AWS_REGION=eu-central-1, or a region in your AWS profile`,
      { cause },
    );
  }
};
