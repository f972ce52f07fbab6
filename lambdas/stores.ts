/**
 * Stores that few functions need. This file is separate from `compose.ts`, so that the bundles of the other functions
 * do not contain these stores.
 */
import { dynamoDBAudit } from '../src/aws/dynamodb-audit.ts';
import { dynamoDBFleets } from '../src/aws/dynamodb-fleets.ts';
import { dynamoDBLists } from '../src/aws/dynamodb-lists.ts';
import type { Config } from '../src/domain/config/resolved.ts';
import { type Environment, setting } from '../src/domain/deployed/environment.ts';
import type { Host } from './host.ts';

export const listsOf = (environment: Environment, { clients }: Pick<Host, 'clients'>) =>
  dynamoDBLists(clients.dynamodb, setting(environment, 'fanOutTable'), setting(environment, 'listTable'));

export const fleetsOf = (environment: Environment, { clients }: Pick<Host, 'clients'>) =>
  dynamoDBFleets(clients.dynamodb, setting(environment, 'fleetTable'));

export const auditOf = (environment: Environment, { clients }: Pick<Host, 'clients'>, { keepAudit }: Config) =>
  dynamoDBAudit(clients.dynamodb, setting(environment, 'auditTable'), keepAudit);
