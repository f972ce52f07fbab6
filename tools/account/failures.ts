/** What AWS's refusals mean, and what to do about them. */
import { reasonOf } from '../../src/util/problems.ts';
import { CommandFailure } from '../failure.ts';

const GIVE =
  'give credentials as every AWS tool finds them: AWS_PROFILE=NAME (after `aws sso login` or `aws configure`), or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (and AWS_SESSION_TOKEN, where they are temporary)';

type Say = (doing: string, reason: string, region: string) => string;

const none: Say = (_, reason) => `there are no AWS credentials (${reason}): ${GIVE}`;
const expired: Say = (_, reason) =>
  `the AWS credentials have expired (${reason}): get new ones, e.g. by \`aws sso login\`, and run the command again`;
const unknown: Say = (_, reason) => `AWS does not accept these credentials (${reason}): ${GIVE}`;
const skewed: Say = (_, reason) => `AWS refuses the request's time (${reason}): set this machine's clock`;
const forbidden: Say = (doing, reason) =>
  `these credentials may not ${doing} (${reason}): docs/how-to/deploy.md lists the permissions`;
const unreachable: Say = (doing, reason, region) =>
  `cannot ${doing}: AWS does not answer in region "${region}" (${reason}): is that the region's name, and is there a way to it from here?`;
const untrusted: Say = (doing, reason) =>
  `cannot ${doing}: the certificate of what answers is not trusted here (${reason}): if it is the one of your own proxy or endpoint, name its authority's file in NODE_EXTRA_CA_CERTS`;
const noAddress: Say = (doing, reason) =>
  `cannot ${doing} (${reason}): AWS_ENDPOINT_URL, AWS_ENDPOINT_URL_… or the profile's endpoint_url has to be a URL such as https://127.0.0.1:5066, where one is set`;
const notOptedIn: Say = (doing, reason, region) =>
  `cannot ${doing}: the account does not use region "${region}" or the service (${reason}): enable it in the account's settings, or name another region`;
const otherwise: Say = (doing, reason) => `cannot ${doing} (${reason})`;
const busy: Say = (doing, reason) => `cannot ${doing} now (${reason}): run the command again in a minute`;

/** By the errors' names (SDK, STS, CloudFormation, SSM, DynamoDB) or, for the network's, by their codes. */
const WORDS: Readonly<Record<string, Say>> = {
  CredentialsProviderError: none,
  ExpiredToken: expired,
  ExpiredTokenException: expired,
  TokenProviderError: expired,
  RequestExpired: expired,
  InvalidClientTokenId: unknown,
  UnrecognizedClientException: unknown,
  InvalidAccessKeyId: unknown,
  SignatureDoesNotMatch: unknown,
  InvalidSignatureException: unknown,
  IncompleteSignature: unknown,
  AuthFailure: unknown,
  RequestTimeTooSkewed: skewed,
  AccessDenied: forbidden,
  AccessDeniedException: forbidden,
  Throttling: busy,
  ThrottlingException: busy,
  ServiceUnavailable: busy,
  ServiceUnavailableException: busy,
  InternalFailure: busy,
  OptInRequired: notOptedIn,
  ERR_INVALID_URL: noAddress,
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted,
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  CERT_HAS_EXPIRED: untrusted,
  ERR_TLS_CERT_ALTNAME_INVALID: untrusted,
  TimeoutError: unreachable,
  ENOTFOUND: unreachable,
  EAI_AGAIN: unreachable,
  ECONNREFUSED: unreachable,
  ECONNRESET: unreachable,
  EHOSTUNREACH: unreachable,
  ENETUNREACH: unreachable,
  ETIMEDOUT: unreachable,
};

/** Does something in the account. @param doing what, for the message. @throws CommandFailure, or what nobody expected. */
export const inWords = async <T>(doing: string, region: string, work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (cause) {
    const say = sayingOf(cause);
    if (say === undefined) throw cause;
    throw new CommandFailure(say(doing, messageOf(cause), region), { cause });
  }
};

const sayingOf = (cause: unknown): Say | undefined => {
  if (!(cause instanceof Error)) return undefined;
  const { name, code = '' } = cause as { readonly name: string; readonly code?: string };
  // The SDK calls both kinds by the first name; only the message tells an expired session from none.
  if (name === 'CredentialsProviderError' && /expired/i.test(messageOf(cause))) return expired;
  // AWS and the system have many more, and their words are better than a stack trace.
  return WORDS[name] ?? WORDS[code] ?? ('$metadata' in cause || code !== '' ? otherwise : undefined);
};

/** A connection that was tried at several addresses fails with a message for each and none of its own. */
const messageOf = (cause: unknown): string =>
  reasonOf(cause instanceof AggregateError && cause.message === '' ? cause.errors[0] : cause);
