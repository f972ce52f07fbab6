/** AWS clients for local engines. */
import { type AwsClients, awsClients, type Endpoints, type Signer } from '../../src/aws/clients.ts';

/** The region for local engines and local ARNs. */
export const LOCAL_REGION = 'us-east-1';

interface LocalEndpoints extends Pick<Endpoints, 'dynamodb' | 'sqs' | 'patient' | 'requestHandler'> {
  /** Awaited before each attempt of a request to DynamoDB. */
  readonly dynamodbSettled?: () => Promise<unknown>;
}

/**
 * Signs with a constant. Local engines read the credential, the service and the date, but do not check the signature, and a
 * real signature takes a fifth of the processor time of a request.
 */
const CONSTANT: Signer = {
  sign: async (request, { signingService, signingDate } = {}) => {
    const time = new Date(signingDate ?? Date.now()).toISOString().replace(/[-:]|\.\d+/g, '');
    const scope = `local/${time.slice(0, 8)}/${LOCAL_REGION}/${signingService}/aws4_request`;
    request.headers['x-amz-date'] = time;
    request.headers.authorization = `AWS4-HMAC-SHA256 Credential=${scope}, SignedHeaders=host;x-amz-date, Signature=${'0'.repeat(64)}`;
    return request;
  },
};

/** Clients for local engines, which accept any credentials. */
export const localClients = ({ dynamodbSettled, ...endpoints }: LocalEndpoints): AwsClients => {
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  const clients = awsClients({ ...endpoints, region: LOCAL_REGION, credentials, signer: CONSTANT });
  // Local engines do not read these headers.
  for (const { middlewareStack } of [clients.dynamodb, clients.sqs])
    for (const name of ['getUserAgentMiddleware', 'recursionDetectionMiddleware']) middlewareStack.remove(name);
  if (dynamodbSettled)
    // Wait inside the retry loop. Otherwise all retries would be used up before an engine has restarted.
    clients.dynamodb.middlewareStack.add(
      (next) => async (args) => {
        await dynamodbSettled();
        return next(args);
      },
      { step: 'finalizeRequest', priority: 'low' },
    );
  return clients;
};
