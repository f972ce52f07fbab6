/** Looks at the account before anything is made: who, where, what is there. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { GetParameterCommand, ParameterNotFound, SSMClient } from '@aws-sdk/client-ssm';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { stackNames } from '../../lib/stage.ts';
import { inWords } from '../account/failures.ts';
import { type Account, changeSetsOf, type FoundStack, findStack } from '../account/stacks.ts';
import { type BootstrapFound, TOOLKIT, versionParameter } from './bootstrap.ts';
import { stateOf } from './stack-state.ts';

/** The account's number. @throws CommandFailure when there are no credentials, or none that work. */
export const whoAmI = ({ region }: Account): Promise<string> =>
  inWords('ask AWS whose credentials these are', region, async () => {
    const { Account = '' } = await new STSClient({ region }).send(new GetCallerIdentityCommand({}));
    return Account;
  });

/** A stack of a stage, with what tells who made it. */
export interface StageStack extends FoundStack {
  /** The names of the change set that was carried out last, or of those that wait. */
  readonly changeSets: readonly string[];
}

/** A stage's stacks, as far as they exist, in the order in which they are made. */
export const stacksOf = async (account: Account, stage: string): Promise<StageStack[]> => {
  const names = Object.values(stackNames(stage));
  const found = await Promise.all(names.map((name) => findStack(account, name)));
  return Promise.all(
    found
      .filter((stack) => stack !== undefined)
      .map(async (stack) => ({ ...stack, changeSets: await namesOf(account, stack) })),
  );
};

/** Several may wait for a stack that holds nothing yet; of any other one counts, `arn:…:changeSet/NAME/ID`. */
const namesOf = async (account: Account, { name, status, changeSetId }: FoundStack): Promise<readonly string[]> => {
  const carriedOut = changeSetId?.split('/').at(-2);
  return carriedOut === undefined || stateOf(status) === 'review' ? changeSetsOf(account, name) : [carriedOut];
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
