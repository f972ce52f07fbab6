/** Explains errors of AWS, with a remedy for each. */
import { reasonOf } from '../../src/util/problems.ts';
import { CommandFailure } from '../failure.ts';

const GIVE =
  'set AWS_PROFILE=NAME (after `aws sso login` or `aws configure`), or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (with AWS_SESSION_TOKEN if the credentials are temporary)';

type Say = (doing: string, reason: string, region: string) => string;

const none: Say = (_, reason) => `no AWS credentials were found (${reason}). To provide credentials, ${GIVE}`;
const expired: Say = (_, reason) =>
  `the AWS credentials have expired (${reason}). Get new ones, e.g. with \`aws sso login\`, and run the command again`;
const unknown: Say = (_, reason) =>
  `AWS does not accept these credentials (${reason}). To use other credentials, ${GIVE}`;
const skewed: Say = (_, reason) =>
  `AWS refused the request because this machine's clock is wrong (${reason}). Correct the clock, then run the command again`;
const forbidden: Say = (doing, reason) =>
  `these credentials lack the permission to ${doing} (${reason}). docs/how-to/deploy.md lists the permissions that are needed`;
const unreachable: Say = (doing, reason, region) =>
  `cannot ${doing}: AWS does not respond in region "${region}" (${reason}). Check the name of the region and the network connection`;
const untrusted: Say = (doing, reason) =>
  `cannot ${doing}: the server's certificate is not trusted (${reason}). If it belongs to your own proxy or endpoint, set NODE_EXTRA_CA_CERTS to the file of its certificate authority`;
const noAddress: Say = (doing, reason) =>
  `cannot ${doing} (${reason}). If AWS_ENDPOINT_URL, AWS_ENDPOINT_URL_… or the profile's endpoint_url is set, it must be a URL such as https://127.0.0.1:5066`;
const notOptedIn: Say = (doing, reason, region) =>
  `cannot ${doing}: region "${region}" or the service is not enabled for the account (${reason}). Enable it in the account's settings, or use another region`;
const otherwise: Say = (doing, reason) => `cannot ${doing} (${reason})`;
const busy: Say = (doing, reason) => `cannot ${doing} now (${reason}). Run the command again in a minute`;

/** Explanations by the name of the error (SDK, STS, CloudFormation, SSM, DynamoDB) or, for network errors, by its code. */
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

/**
 * Runs `work` and explains its errors. @param doing verb phrase for the message. @throws CommandFailure. Unexpected
 * errors are thrown unchanged.
 */
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
  // The SDK uses this name for missing and for expired credentials; only the message differs.
  if (name === 'CredentialsProviderError' && /expired/i.test(messageOf(cause))) return expired;
  // For other errors of AWS or of the system, show the error's own message instead of a stack trace.
  return WORDS[name] ?? WORDS[code] ?? ('$metadata' in cause || code !== '' ? otherwise : undefined);
};

/** A failed connection to several addresses is an AggregateError without a message of its own. */
const messageOf = (cause: unknown): string =>
  reasonOf(cause instanceof AggregateError && cause.message === '' ? cause.errors[0] : cause);
