/** A cloud to deploy to: an AWS account, or an emulator of AWS. */

import { readFileSync } from 'node:fs';
import { rootCertificates, setDefaultCACertificates } from 'node:tls';
import type { AwsClients } from '../../src/aws/clients.ts';
import { awsClients } from '../../src/aws/clients.ts';

export interface Cloud {
  readonly name: 'ministack' | 'aws';
  readonly account: string;
  readonly region: string;
  /** The URL of all its services, unless it is AWS. */
  readonly endpoint?: string;
  /** A file with the certificate of the endpoint. */
  readonly certificate?: string;
  /** The suffix of the run's stages, which keeps runs apart. */
  readonly suffix: string;
  /** Tags of everything that the run creates. */
  readonly tags: Readonly<Record<string, string>>;
}

/**
 * The environment variables by which the SDKs, the CDK and the CLI find a cloud. AWS credentials come from the
 * environment.
 */
export const environmentOf = ({ region, endpoint, certificate }: Cloud): Record<string, string> => ({
  AWS_REGION: region,
  AWS_DEFAULT_REGION: region,
  ...(endpoint ? { AWS_ENDPOINT_URL: endpoint, AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' } : {}),
  // Node.js reads the first at its start, the CDK's own client the second.
  ...(certificate ? { NODE_EXTRA_CA_CERTS: certificate, AWS_CA_BUNDLE: certificate } : {}),
});

/** Points every client of this process to the cloud, with the variables that its child processes get too. */
export const enter = (cloud: Cloud): void => {
  Object.assign(process.env, environmentOf(cloud));
  if (cloud.certificate) setDefaultCACertificates([...rootCertificates, readFileSync(cloud.certificate, 'utf8')]);
};

export const clientsOf = (cloud: Cloud): AwsClients => {
  enter(cloud);
  return awsClients();
};
