/** Turns names in a configuration (a name in this account and region, or an ARN) into addresses and clients. */
import type { SQSClient } from '@aws-sdk/client-sqs';
import { awsClients } from '../src/aws/clients.ts';
import { inRegionOf } from '../src/domain/config/endpoints.ts';
import { type Environment, type Setting, setting } from '../src/domain/deployed/environment.ts';
import type { Host } from './host.ts';

/**
 * @param prefix the ARN prefix for names of this kind in this account and region.
 * @throws MissingSetting
 */
export const arnOf = (name: string, prefix: Setting, environment: Environment): string =>
  name.startsWith('arn:') ? name : `${setting(environment, prefix)}${name}`;

/** The client for a queue. */
export const clientOfQueue = (name: string, environment: Environment, { clients, services }: Host): SQSClient => {
  const { region = environment.AWS_REGION } = inRegionOf(name);
  // In a local start, one service has all queues, whatever their region.
  const isHere = region === environment.AWS_REGION || services !== undefined;
  return isHere || !region ? clients.sqs : awsClients({ region }).sqs;
};
