/**
 * The backend `aws` for a real AWS account: the run deploys tagged stages of its own and removes them. Since this
 * costs money, the environment has to name the account.
 */
import { randomBytes } from 'node:crypto';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { stackNames } from '../../lib/stage.ts';
import { suiteInput } from '../end-to-end/operations.ts';
import { cdkFor, deployAll, destroyAll } from './cdk.ts';
import type { Cloud } from './cloud.ts';
import { fitToEmulator } from './emulator-fit.ts';
import type { Started } from './setup.ts';

type Environment = Readonly<Record<string, string | undefined>>;

type Credentials = Awaited<ReturnType<STSClient['config']['credentials']>>;

interface Wanted {
  readonly account: string;
  readonly region: string;
  readonly downstreamUrl: string;
  readonly downstreamPort: number;
}

/** Reads the account to test in from the environment. @throws Error that names everything that is missing */
export const readWanted = (environment: Environment): Wanted => {
  const {
    GROUPAGE_AWS_ACCOUNT: account = '',
    AWS_REGION: region = '',
    GROUPAGE_AWS_DOWNSTREAM_URL: downstreamUrl = '',
    GROUPAGE_AWS_DOWNSTREAM_PORT: port = '',
  } = environment;
  const downstreamPort = Number(port);
  const problems = [
    ...(/^\d{12}$/.test(account)
      ? []
      : ['GROUPAGE_AWS_ACCOUNT has to be the number of the account in which stacks may be made and removed']),
    ...(region ? [] : ['AWS_REGION has to be set']),
    ...(URL.canParse(downstreamUrl)
      ? []
      : [
          'GROUPAGE_AWS_DOWNSTREAM_URL has to be an address by which Lambda reaches this machine, e.g. that of a tunnel',
        ]),
    ...(Number.isInteger(downstreamPort) && downstreamPort > 0
      ? []
      : ['GROUPAGE_AWS_DOWNSTREAM_PORT has to be the port of this machine to which that address leads']),
  ];
  if (problems.length > 0) throw new Error(`the backend aws cannot be used:\n  ${problems.join('\n  ')}`);
  return { account, region, downstreamUrl, downstreamPort };
};

/**
 * The SDK and the CDK look for credentials in different orders. So this process and its children get only the
 * credentials whose account was checked.
 */
const useAlone = ({ accessKeyId, secretAccessKey, sessionToken }: Credentials): void => {
  for (const name of ['AWS_PROFILE', 'AWS_DEFAULT_PROFILE', 'AWS_SESSION_TOKEN']) delete process.env[name];
  Object.assign(process.env, {
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    ...(sessionToken ? { AWS_SESSION_TOKEN: sessionToken } : {}),
  });
};

export const startOnAws = async (environment: Environment = process.env): Promise<Started> => {
  const { account, region, downstreamUrl, downstreamPort } = readWanted(environment);
  const sts = new STSClient({ region });
  const { Account } = await sts.send(new GetCallerIdentityCommand());
  if (Account !== account)
    throw new Error(
      `these credentials are of account ${Account}, but GROUPAGE_AWS_ACCOUNT names ${account}: nothing was made`,
    );
  useAlone(await sts.config.credentials());
  // verify:aws names the run, so that it finds what a killed run left.
  const run = environment.GROUPAGE_AWS_RUN || randomBytes(3).toString('hex');
  const cloud: Cloud = {
    name: 'aws',
    account,
    region,
    suffix: `-test-${run}`,
    tags: { 'groupage:test-run': run },
    ...(environment.AWS_ENDPOINT_URL ? { endpoint: environment.AWS_ENDPOINT_URL } : {}),
  };
  const stage = `suite${cloud.suffix}`;
  console.log(
    `The names of what this run makes in account ${account} begin with Groupage- and contain ${cloud.suffix}. Should it be killed: npm run destroy -- --stage ${stage}, and the other stages that are there.`,
  );
  const cdk = cdkFor(cloud, stage, suiteInput(downstreamUrl));
  const stop = (): Promise<void> => destroyAll(cdk);
  try {
    await deployAll(cdk);
    if (cloud.endpoint) await fitToEmulator(cloud);
  } catch (cause) {
    await stop();
    throw cause;
  }
  const { flow: stackName } = stackNames(stage);
  return { given: { functions: 'deployed', cloud, stackName, downstreamUrl, downstreamPort }, stop };
};
