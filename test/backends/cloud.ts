/** A cloud to deploy to: an account of AWS, or an emulator that looks like one. */

import { readFileSync } from 'node:fs';
import { rootCertificates, setDefaultCACertificates } from 'node:tls';
import type { AwsClients } from '../../src/aws/clients.ts';
import { awsClients } from '../../src/aws/clients.ts';

export interface Cloud {
  readonly name: 'ministack' | 'aws';
  readonly account: string;
  readonly region: string;
  /** Where all of its services are, if not at AWS. */
  readonly endpoint?: string;
  /** A file with the certificate of the endpoint. */
  readonly certificate?: string;
  /** Ends the names of the run's stages, so that runs do not meet. */
  readonly suffix: string;
  /** Put on everything that the run makes. */
  readonly tags: Readonly<Record<string, string>>;
}

/** The variables by which the SDKs, the CDK and the CLI find a cloud; credentials come from the environment. */
export const environmentOf = ({ region, endpoint, certificate }: Cloud): Record<string, string> => ({
  AWS_REGION: region,
  AWS_DEFAULT_REGION: region,
  ...(endpoint ? { AWS_ENDPOINT_URL: endpoint, AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' } : {}),
  // Node.js reads the first at its start, the CDK's own client the second.
  ...(certificate ? { NODE_EXTRA_CA_CERTS: certificate, AWS_CA_BUNDLE: certificate } : {}),
});

/** Lets every client of this process find the cloud, by the variables that also its child processes get. */
export const enter = (cloud: Cloud): void => {
  Object.assign(process.env, environmentOf(cloud));
  if (cloud.certificate) setDefaultCACertificates([...rootCertificates, readFileSync(cloud.certificate, 'utf8')]);
};

export const clientsOf = (cloud: Cloud): AwsClients => {
  enter(cloud);
  return awsClients();
};
