/** The API of a deployed stack, found by the stack's outputs and called with signed requests. Loaded only with --stack. */

import { awsHost, requestSigner, type SigningService } from '../../../src/aws/signed-request.ts';
import { API_URL } from '../../../src/domain/deployed/environment.ts';
import { inWords } from '../../account/failures.ts';
import { instanceIn, instancesOf, parseInstance } from '../../account/instances.ts';
import { type Account, type FoundStack, findStack, listStacks, openAccount } from '../../account/stacks.ts';
import { CommandFailure, WrongUsage } from '../../failure.ts';
import { withoutSecrets } from '../../terminal.ts';
import type { Send } from './api-client.ts';

/** A deployed stack, or one of the instances in it, and how to call its API. */
export interface ReachableStack {
  /** As the user types it: NAME or NAME/ID. */
  readonly name: string;
  /** Name of the CloudFormation stack. */
  readonly stack: string;
  /** The service dimension of its metrics. */
  readonly service: string;
  readonly account: Account;
  /** URL of its API, including the version. */
  readonly url: string;
  readonly send: Send;
}

/**
 * @param text `STACK`, or `STACK/ID` for one of several instances in a user's own stack.
 * @param url another URL of the API, including its version.
 * @throws CommandFailure, WrongUsage
 */
export const reachStack = async (text: string, url?: string, environment = process.env): Promise<ReachableStack> => {
  const named = parseInstance(text);
  if (!named)
    throw new WrongUsage(
      `--stack takes the name or ARN of a stack, or NAME/ID for one of several instances in it, not ${JSON.stringify(text)}`,
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
    send: signedSend(account, text, serviceOf(instance.apiUrl)),
  };
};

/** Explains why a stack lacks an output. While a stack is being created, it has no outputs. */
const withoutOutput = async (account: Account, { name, status }: FoundStack, output: string): Promise<string> =>
  `the stack ${name} (${status}) has no output ${output}${
    status.startsWith('CREATE_IN_PROGRESS')
      ? ': the stack is still being created. Wait until its creation has finished, then run the command again'
      : `: it does not contain Groupage, the id of the instance is wrong, or its deployment failed${await others(account)}`
  }`;

/**
 * Names of the other stacks with a Groupage API, for the message. If the user lacks the permission to list stacks, the
 * message says so.
 */
const others = async (account: Account): Promise<string> => {
  try {
    const names = (await listStacks(account)).flatMap(instancesOf);
    return names.length === 0
      ? '; no stack there has a Groupage API. Check the region and the account, or deploy one with `npm run deploy`'
      : `; stacks with a Groupage API: ${names.join(', ')}`;
  } catch (cause) {
    if (!(cause instanceof CommandFailure)) throw cause;
    return ` (the other stacks could not be listed: ${cause.message})`;
  }
};

/** A proxy or a custom domain at another address checks signatures for the service of the stack's own API. */
export const serviceOf = (apiUrl: string): SigningService => awsHost(apiUrl)?.service ?? 'lambda';

/** Signs requests to the API of a stack, and explains refusals. @param stack its name, for messages. */
export const signedSend = ({ region, cloudFormation }: Account, stack: string, service: SigningService): Send => {
  // The CloudFormation client has resolved the credentials, renews them, and has a hash function.
  const { credentials, sha256 } = cloudFormation.config;
  const sign = requestSigner(service, { region, credentials, sha256 });
  return async (address, init) => {
    const signed = await inWords('sign the request', region, () => sign(address, init));
    const response = await fetch(signed.address, signed.init);
    if (response.status >= 300 && response.status < 400) throw new CommandFailure(elsewhere(address, response));
    if (response.status === 403 && !isOfApi(response))
      throw new CommandFailure(refusal(stack, region, service, await response.text()));
    return response;
  };
};

/** Whether the API itself refused, which says what is missing. AWS refuses in another format. */
const isOfApi = ({ headers }: Response): boolean =>
  headers.get('content-type')?.startsWith('application/problem+json') === true;

const elsewhere = (from: string, { status, headers }: Response): string => {
  const location = headers.get('location') ?? '';
  const to = URL.canParse(location, from) ? withoutSecrets(new URL(location, from).href) : 'no URL';
  return `${new URL(from).origin} answered ${status}, a redirect to ${to}. The command does not follow redirects with signed requests. If the API is at the new address, use --api`;
};

/** What a caller needs, by the service that refused. */
const NEEDS: Readonly<Record<SigningService, string>> = {
  lambda:
    "The credentials need the permissions lambda:InvokeFunctionUrl and lambda:InvokeFunction on the function of the API, see docs/how-to/deploy.md. For credentials of another account, the function's resource policy must grant these permissions too",
  'execute-api':
    'The credentials need the permission execute-api:Invoke on the API, see docs/how-to/deploy.md. A private API also refuses requests that do not come through its VPC endpoints',
};

const refusal = (stack: string, region: string, service: SigningService, body: string): string => {
  const said = messageIn(body);
  if (/expired/i.test(said) && /token/i.test(said))
    return `the AWS credentials have expired (${said}). Get new ones, e.g. with \`aws sso login\``;
  if (/signature expired|not yet current/i.test(said))
    return `AWS refused the request because this machine's clock is wrong (${said}). Correct the clock, then run the command again`;
  if (/signature.*(not match|mismatch)/i.test(said))
    return `the signature does not match (${said}). Check the secret key and the region (${region}), and that no proxy changes the host or the path`;
  return `the API of ${stack} refused these credentials (403: ${said}). ${NEEDS[service]}`;
};

/** AWS's errors have `Message` or `message`. */
const messageIn = (body: string): string => {
  try {
    const { Message, message } = JSON.parse(body) as { Message?: unknown; message?: unknown };
    return String(Message ?? message ?? body).slice(0, 500);
  } catch {
    return body.slice(0, 200);
  }
};
