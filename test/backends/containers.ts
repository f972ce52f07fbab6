/** The images of Amazon's DynamoDB Local and of LocalStack, by Testcontainers, for the whole run. */
import { startBoth } from './engines/both.ts';
import { startDynamoDBContainer, startLocalStackContainer } from './engines/containers.ts';
import type { Started } from './setup.ts';

export const startContainers = (): Promise<Started> => startBoth(startDynamoDBContainer, startLocalStackContainer);
