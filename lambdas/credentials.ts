/**
 * Where a function's keys are: in its environment, for as long as that lives. Takes the place of the SDK's chain of
 * providers in the bundles (lib/handler-bundles.ts); nothing else finds credentials this way (docs/decisions/0019).
 */
import type { DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';

type Provider = Extract<NonNullable<DynamoDBClientConfig['credentials']>, () => unknown>;

/** There are no keys where Lambda puts them. */
class NoCredentials extends Error {
  override readonly name = 'NoCredentials';
}

/** Named as the SDK asks for it. The provider rejects with NoCredentials where there are none. */
export const defaultProvider = (): Provider => async () => {
  const {
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    AWS_SESSION_TOKEN: sessionToken,
  } = process.env;
  if (!accessKeyId || !secretAccessKey)
    throw new NoCredentials('the environment has no AWS_ACCESS_KEY_ID or no AWS_SECRET_ACCESS_KEY: Lambda sets them');
  return { accessKeyId, secretAccessKey, ...(sessionToken ? { sessionToken } : {}) };
};
