/** Looks at the account before anything is made: who, where, what is there. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { GetParameterCommand, ParameterNotFound, SSMClient } from '@aws-sdk/client-ssm';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { stackNames } from '../../lib/stage.ts';
import { inWords } from '../account/failures.ts';
import { type Account, type FoundStack, findStack } from '../account/stacks.ts';
import { type BootstrapFound, TOOLKIT, versionParameter } from './bootstrap.ts';

/** The account's number. @throws CommandFailure when there are no credentials, or none that work. */
export const whoAmI = ({ region }: Account): Promise<string> =>
  inWords('ask AWS whose credentials these are', region, async () => {
    const { Account = '' } = await new STSClient({ region }).send(new GetCallerIdentityCommand({}));
    return Account;
  });

/** A stage's stacks, as far as they exist. */
export const stacksOf = async (account: Account, stage: string): Promise<FoundStack[]> => {
  const { data, flow } = stackNames(stage);
  const found = await Promise.all([data, flow].map((name) => findStack(account, name)));
  return found.filter((stack) => stack !== undefined);
};

export const bootstrapOf = async (account: Account, number: string): Promise<BootstrapFound> => {
  const { region } = account;
  const qualifier = bootstrapQualifier();
  const version = await inWords('read whether the account is bootstrapped', region, () => read(region, qualifier));
  // Only without a version does the stack matter: it may have any name.
  const toolkit = version === undefined ? (await findStack(account, TOOLKIT))?.status : undefined;
  return {
    environment: `aws://${number}/${region}`,
    qualifier,
    ...(version === undefined ? {} : { version }),
    ...(toolkit === undefined ? {} : { toolkit }),
  };
};

const read = async (region: string, qualifier: string): Promise<string | undefined> => {
  try {
    const { Parameter } = await new SSMClient({ region }).send(
      new GetParameterCommand({ Name: versionParameter(qualifier) }),
    );
    return Parameter?.Value;
  } catch (cause) {
    if (cause instanceof ParameterNotFound) return undefined;
    throw cause;
  }
};

/** What cdk.json says, otherwise what `cdk` takes. */
const bootstrapQualifier = (): string => {
  const { context = {} } = JSON.parse(readFileSync(join(import.meta.dirname, '../../cdk.json'), 'utf8')) as {
    context?: Record<string, unknown>;
  };
  return String(context['@aws-cdk/core:bootstrapQualifier'] ?? 'hnb659fds');
};
