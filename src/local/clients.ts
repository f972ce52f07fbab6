/** Clients for local engines, wherever they were started. */
import { type AwsClients, awsClients, type Endpoints } from '../aws/clients.ts';

/** What local engines, and ARNs made here, are told. */
export const LOCAL_REGION = 'us-east-1';

interface LocalEndpoints extends Pick<Endpoints, 'dynamodb' | 'sqs' | 'patient'> {
  /** Is waited for before each try of a request to DynamoDB. */
  readonly dynamodbSettled?: () => Promise<unknown>;
}

/** Clients for local engines, which take any credentials. */
export const localClients = ({ dynamodbSettled, ...endpoints }: LocalEndpoints): AwsClients => {
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  const clients = awsClients({ ...endpoints, region: LOCAL_REGION, credentials });
  if (dynamodbSettled)
    // Within the retries: they are over long before an engine has been started again.
    clients.dynamodb.middlewareStack.add(
      (next) => async (args) => {
        await dynamodbSettled();
        return next(args);
      },
      { step: 'finalizeRequest', priority: 'low' },
    );
  return clients;
};
