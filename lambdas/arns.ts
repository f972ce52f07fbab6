/** Resolves names of a configuration (of this account and region, or an ARN) to addresses and clients. */
import type { SQSClient } from '@aws-sdk/client-sqs';
import { awsClients } from '../src/aws/clients.ts';
import { type Environment, type Setting, setting } from '../src/domain/deployed/environment.ts';
import type { Host } from './compose.ts';

const isArn = (name: string): boolean => name.startsWith('arn:');

/** A client calls one region: that of the ARN, where it is one. */
export const inRegionOf = (name: string): { readonly region?: string } => {
  const region = isArn(name) ? name.split(':')[3] : undefined;
  return region ? { region } : {};
};

/** @param prefix what ARNs of its kind begin with here. @throws MissingSetting */
export const arnOf = (name: string, prefix: Setting, environment: Environment): string =>
  isArn(name) ? name : `${setting(environment, prefix)}${name}`;

/** The client for a queue. */
export const clientOfQueue = (name: string, environment: Environment, { clients, services }: Host): SQSClient => {
  const { region = environment.AWS_REGION } = inRegionOf(name);
  // A local start has all of its queues in one place.
  const isHere = region === environment.AWS_REGION || services !== undefined;
  return isHere || !region ? clients.sqs : awsClients({ region }).sqs;
};
