/** The API of a deployed stack: found by the stack's outputs, its requests signed. Loaded only where it is asked for. */
import { type Account, type FoundStack, findStack, listStacks, openAccount } from '../account/stacks.ts';
import { CommandFailure, WrongUsage } from '../failure.ts';
import { type ApiClient, apiClient, type Send } from './api-client.ts';
import { signedSend } from './signed.ts';

/** The output that makes a stack one of Groupage's. */
const OUTPUT = 'ApiUrl';

/** What CloudFormation takes for a name, or an ARN. */
const STACK = /^(?:[a-z][a-z0-9-]{0,127}|arn:[\w-]+:cloudformation:[\w-]+:\d+:stack\/[\w/-]+)$/i;

/** A deployed stack, and the way to its API. */
export interface ReachableStack {
  readonly name: string;
  readonly account: Account;
  /** Of its API, up to the version. */
  readonly url: string;
  readonly send: Send;
}

export const stackApi = async (name: string, url?: string): Promise<ApiClient> => {
  const stack = await reachStack(name, url);
  return apiClient(stack.url, stack.send);
};

/** @param url where to reach the API instead, up to its version. @throws CommandFailure, WrongUsage */
export const reachStack = async (name: string, url?: string, environment = process.env): Promise<ReachableStack> => {
  if (!STACK.test(name))
    throw new WrongUsage(`--stack takes the name or the ARN of a stack, not ${JSON.stringify(name)}`);
  const account = await openAccount(environment);
  const stack = await findStack(account, name);
  if (!stack) throw new CommandFailure(`there is no stack ${name} in ${account.region}${await others(account)}`);
  const apiUrl = stack.outputs[OUTPUT];
  if (apiUrl === undefined) throw new CommandFailure(await withoutOutput(account, stack));
  return { name: stack.name, account, url: url ?? new URL('v1', apiUrl).href, send: signedSend(account, name) };
};

/** A stack that is being created has no outputs yet; another one never had this one. */
const withoutOutput = async (account: Account, { name, status }: FoundStack): Promise<string> =>
  `the stack ${name} (${status}) has no output ${OUTPUT}${
    status.startsWith('CREATE_IN_PROGRESS')
      ? ': it is being created, wait until that is done'
      : `: it is not a flow stack of Groupage, or its deployment failed${await others(account)}`
  }`;

/** Who may not list stacks may still use one by its name. */
const others = async (account: Account): Promise<string> => {
  try {
    const names = (await listStacks(account)).filter(({ outputs }) => OUTPUT in outputs).map(({ name }) => name);
    return names.length === 0
      ? '; no stack there has an API of Groupage: is it another region or account? `npm run deploy` makes one'
      : `; those with an API of Groupage are: ${names.join(', ')}`;
  } catch (cause) {
    if (!(cause instanceof CommandFailure)) throw cause;
    return ` (nor could the others be listed: ${cause.message})`;
  }
};
