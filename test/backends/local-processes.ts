/** Amazon's DynamoDB Local and LocalStack's SQS as processes of this machine, for the whole run. */
import { startDynamoDB } from '../../tools/local/dynamodb-engine.ts';
import { startBoth } from './engines/both.ts';
import { startLocalStack } from './engines/localstack.ts';
import type { Started } from './setup.ts';

export const startLocalProcesses = (): Promise<Started> =>
  startBoth(() => startDynamoDB({ port: 0, engine: 'DynamoDB Local' }), startLocalStack);
