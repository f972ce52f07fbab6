/**
 * Reads a function's credentials from its environment variables. They stay valid as long as the execution environment
 * exists. In the bundles this replaces the SDK's chain of providers (lib/handler-bundles.ts, docs/decisions/0019).
 */
import type { DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';

type Provider = Extract<NonNullable<DynamoDBClientConfig['credentials']>, () => unknown>;

/** The environment variables contain no credentials. */
class NoCredentials extends Error {
  override readonly name = 'NoCredentials';
}

/**
 * The function has the name that the SDK imports. The provider rejects with NoCredentials if the environment variables
 * contain no credentials.
 */
export const defaultProvider = (): Provider => async () => {
  const {
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    AWS_SESSION_TOKEN: sessionToken,
  } = process.env;
  if (!accessKeyId || !secretAccessKey)
    throw new NoCredentials(
      'the environment has no AWS_ACCESS_KEY_ID or no AWS_SECRET_ACCESS_KEY: Lambda sets both, so run this code as a Lambda function',
    );
  return { accessKeyId, secretAccessKey, ...(sessionToken ? { sessionToken } : {}) };
};
