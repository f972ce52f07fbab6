/** The rights of the λ that delivers events: to reach the destinations that are configured, and nothing else. */
import type { Destination } from '../src/domain/config/endpoints.ts';
import { arnOf, queueRight, type Right, requestRights } from './endpoints.ts';

/** To tell a destination. */
export const destinationRights = (destination: Destination): Right[] => {
  switch (destination.kind) {
    case 'queue':
      return [queueRight(destination.name)];
    case 'topic':
      return [{ actions: ['sns:Publish'], resource: topicArn(destination.name) }];
    case 'event-bus':
      return [{ actions: ['events:PutEvents'], resource: arnOf('events', 'event-bus/', destination.name) }];
    case 'http':
      return requestRights(destination);
  }
};

/** What stands before a topic's name, for whoever publishes: SNS takes ARNs alone. */
export const topicArn = (name = ''): string => arnOf('sns', '', name);
