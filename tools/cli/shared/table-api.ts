/**
 * The fleet API on a user's own table, without a Groupage stack. Its routes run in this process, with the credentials of
 * the environment. Loaded only with --table.
 */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { Hono } from 'hono';
import { fleetRoutes } from '../../../src/api/fleets/routes.ts';
import { HttpProblem } from '../../../src/api/shared/problem.ts';
import { dynamoDBFleets } from '../../../src/aws/dynamodb-fleets.ts';
import { reasonOf } from '../../../src/util/problems.ts';
import { inWords } from '../../account/failures.ts';
import { regionOf } from '../../account/region.ts';
import { CommandFailure, WrongUsage } from '../../failure.ts';
import { type ApiClient, apiClient } from './api-client.ts';

/** A name of a DynamoDB table, or its ARN. */
const TABLE = /^(?:[\w.-]{3,255}|arn:[\w-]+:dynamodb:[\w-]+:\d+:table\/[\w.-]+)$/;

/** @throws CommandFailure, WrongUsage */
export const tableApi = async (table: string, environment = process.env): Promise<ApiClient> => {
  if (!TABLE.test(table))
    throw new WrongUsage(`--table takes the name or ARN of a table, not ${JSON.stringify(table)}`);
  const region = await regionOf(environment, new DynamoDBClient({}).config.region);
  const client = DynamoDBDocumentClient.from(new DynamoDBClient({ region }));
  const app = new Hono().route('/v1', fleetRoutes({ fleets: dynamoDBFleets(client, table) }));
  app.onError((cause) => {
    if (cause instanceof HttpProblem) return cause.toResponse();
    throw cause;
  });
  return apiClient('http://table/v1', (url, init) =>
    inWords(`use the table ${table}`, region, async () => {
      try {
        return await app.request(url, init);
      } catch (cause) {
        const words = cause instanceof Error ? refusal(cause, table, region) : undefined;
        if (words === undefined) throw cause;
        throw new CommandFailure(words, { cause });
      }
    }),
  );
};

/** Explains errors of DynamoDB for a fleet's table. */
const refusal = (cause: Error, table: string, region: string): string | undefined => {
  switch (cause.name) {
    case 'ResourceNotFoundException':
      return `there is no table ${table} in ${region}. Check the region and the account; \`aws dynamodb list-tables\` lists the tables`;
    case 'AccessDeniedException':
      return `these credentials lack the permission to use the table ${table} (${reasonOf(cause)}). The credentials need dynamodb:Query and, to drain and move, dynamodb:UpdateItem on the table. FleetTable.grantOperate grants both`;
    case 'ValidationException':
      return `the table ${table} is not a FleetTable (${reasonOf(cause)}). The keys of a FleetTable are Fleet and Entry`;
    default:
      return undefined;
  }
};
