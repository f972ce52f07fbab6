/** The API of a deployed stack: found by the stack's outputs, its requests signed. Loaded only where it is asked for. */

import { requestSigner } from '../../../src/aws/signed-request.ts';
import { API_URL } from '../../../src/domain/deployed/environment.ts';
import { inWords } from '../../account/failures.ts';
import { instanceIn, instancesOf, parseInstance } from '../../account/instances.ts';
import { type Account, type FoundStack, findStack, listStacks, openAccount } from '../../account/stacks.ts';
import { CommandFailure, WrongUsage } from '../../failure.ts';
import { withoutSecrets } from '../../terminal.ts';
import { type ApiClient, apiClient, type Send } from './api-client.ts';

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

/** Requests to a function URL, signed; refusals in words. @param stack its name, for messages. */
export const signedSend = ({ region, cloudFormation }: Account, stack: string): Send => {
  // The client has found the credentials (and renews them), and brings a hash.
  const { credentials, sha256 } = cloudFormation.config;
  const sign = requestSigner({ region, credentials, sha256 });
  return async (address, init) => {
    const signed = await inWords('sign the request', region, () => sign(address, init));
    const response = await fetch(signed.address, signed.init);
    if (response.status >= 300 && response.status < 400) throw new CommandFailure(elsewhere(address, response));
    if (response.status === 403) throw new CommandFailure(refusal(stack, region, await response.text()));
    return response;
  };
};

const elsewhere = (from: string, { status, headers }: Response): string => {
  const location = headers.get('location') ?? '';
  const to = URL.canParse(location, from) ? withoutSecrets(new URL(location, from).href) : 'nowhere';
  return `${new URL(from).origin} answered ${status} and leads to ${to}: signed requests are not sent on. If the API is there, name it with --api`;
};

const refusal = (stack: string, region: string, body: string): string => {
  const said = messageIn(body);
  if (/expired/i.test(said) && /token/i.test(said))
    return `the AWS credentials have expired (${said}): get new ones, e.g. by \`aws sso login\``;
  if (/signature expired|not yet current/i.test(said))
    return `AWS refuses the request's time (${said}): set this machine's clock`;
  if (/signature.*(not match|mismatch)/i.test(said))
    return `the signature does not fit (${said}): are these the credentials' secret and the region (${region}), and does what stands between keep host and path as they are?`;
  return `the API of ${stack} refuses these credentials (403: ${said}): they need lambda:InvokeFunctionUrl and lambda:InvokeFunction on its function, see docs/how-to/deploy.md; a credential of another account needs them in the function's own policy too`;
};

/** AWS's errors say `Message` or `message`. */
const messageIn = (body: string): string => {
  try {
    const { Message, message } = JSON.parse(body) as { Message?: unknown; message?: unknown };
    return String(Message ?? message ?? body).slice(0, 500);
  } catch {
    return body.slice(0, 200);
  }
};
