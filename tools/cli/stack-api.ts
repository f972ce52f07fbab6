/** The API of a deployed stack: found by the stack's outputs, its requests signed. Loaded only where it is asked for. */

import { API_URL } from '../../src/domain/deployed/environment.ts';
import { instanceIn, instancesOf, parseInstance } from '../account/instances.ts';
import { type Account, type FoundStack, findStack, listStacks, openAccount } from '../account/stacks.ts';
import { CommandFailure, WrongUsage } from '../failure.ts';
import { type ApiClient, apiClient, type Send } from './api-client.ts';
import { signedSend } from './signed.ts';

/** A deployed stack, or one of the instances in it, and the way to its API. */
export interface ReachableStack {
  /** As it is typed. */
  readonly name: string;
  /** The stack's own. */
  readonly stack: string;
  /** What its metrics are of. */
  readonly service: string;
  readonly account: Account;
  /** Of its API, up to the version. */
  readonly url: string;
  readonly send: Send;
}

export const stackApi = async (name: string, url?: string): Promise<ApiClient> => {
  const stack = await reachStack(name, url);
  return apiClient(stack.url, stack.send);
};

/**
 * @param text `STACK`, or `STACK/ID` for a further instance of somebody's own stack.
 * @param url where to reach the API instead, up to its version.
 * @throws CommandFailure, WrongUsage
 */
export const reachStack = async (text: string, url?: string, environment = process.env): Promise<ReachableStack> => {
  const named = parseInstance(text);
  if (!named)
    throw new WrongUsage(
      `--stack takes the name or the ARN of a stack, and /ID behind it for one of several instances in it, not ${JSON.stringify(text)}`,
    );
  const account = await openAccount(environment);
  const stack = await findStack(account, named.stack);
  if (!stack) throw new CommandFailure(`there is no stack ${named.stack} in ${account.region}${await others(account)}`);
  const instance = instanceIn(stack, named.id);
  if (!instance) throw new CommandFailure(await withoutOutput(account, stack, `${named.id}${API_URL}`));
  return {
    name: named.id === '' ? stack.name : `${stack.name}/${named.id}`,
    stack: stack.name,
    service: instance.service,
    account,
    url: url ?? new URL('v1', instance.apiUrl).href,
    send: signedSend(account, text),
  };
};

/** A stack that is being created has no outputs yet; another one never had this one. */
const withoutOutput = async (account: Account, { name, status }: FoundStack, output: string): Promise<string> =>
  `the stack ${name} (${status}) has no output ${output}${
    status.startsWith('CREATE_IN_PROGRESS')
      ? ': it is being created, wait until that is done'
      : `: it is no stack with Groupage in it, that is there by another name, or its deployment failed${await others(account)}`
  }`;

/** Who may not list stacks may still use one by its name. */
const others = async (account: Account): Promise<string> => {
  try {
    const names = (await listStacks(account)).flatMap(instancesOf);
    return names.length === 0
      ? '; no stack there has an API of Groupage: is it another region or account? `npm run deploy` makes one'
      : `; those with an API of Groupage are: ${names.join(', ')}`;
  } catch (cause) {
    if (!(cause instanceof CommandFailure)) throw cause;
    return ` (nor could the others be listed: ${cause.message})`;
  }
};
