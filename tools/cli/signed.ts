/** The command line's requests to a function URL, signed; refusals in words. */

import { requestSigner } from '../../src/aws/signed-request.ts';
import { inWords } from '../account/failures.ts';
import type { Account } from '../account/stacks.ts';
import { CommandFailure } from '../failure.ts';
import { withoutSecrets } from '../terminal.ts';
import type { Send } from './api-client.ts';

/** @param stack its name, for messages. */
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
  return `the API of ${stack} refuses these credentials (403: ${said}): they need lambda:InvokeFunctionUrl and lambda:InvokeFunction on its function, see docs/deploying.md; a credential of another account needs them in the function's own policy too`;
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
