/** The way to each destination, of whatever kind: opened when the first event goes there. */
import { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { SNSClient } from '@aws-sdk/client-sns';
import { awsClients } from '../src/aws/clients.ts';
import { wayToEventBus, wayToQueue, wayToTopic } from '../src/aws/destinations.ts';
import type { DeliverDeps, Way } from '../src/callbacks/deliver.ts';
import { wayByHttp } from '../src/callbacks/http.ts';
import type { Destination } from '../src/config/endpoints.ts';
import { type Environment, setting } from '../src/environment.ts';
import type { Machine } from '../src/ports.ts';
import type { Host, ServiceAt } from './compose.ts';
import { secretsOf } from './secrets.ts';

export const waysTo = (environment: Environment, host: Host, { now }: Pick<Machine, 'now'>): DeliverDeps['wayTo'] => {
  const secrets = secretsOf(host, { now });
  const ways = new Map<Destination, Way>();
  const open = (destination: Destination): Way =>
    destination.kind === 'http'
      ? wayByHttp(destination, { now, secrets })
      : wayInAws(destination.kind, destination.name, environment, host);
  return (destination) => {
    const way = ways.get(destination) ?? open(destination);
    ways.set(destination, way);
    return way;
  };
};

/** A call that hangs must not use up its function's time. */
const TRIES = {
  maxAttempts: 3,
  requestHandler: { connectionTimeout: 1_000, requestTimeout: 2_000, throwOnRequestTimeout: true },
};

const wayInAws = (
  kind: Exclude<Destination['kind'], 'http'>,
  name: string,
  environment: Environment,
  host: Host,
): Way => {
  const region = name.startsWith('arn:') ? name.split(':')[3] : undefined;
  switch (kind) {
    case 'queue': {
      // A local start has all of its queues in one place.
      const isHere = region === undefined || region === environment.AWS_REGION || host.services !== undefined;
      return wayToQueue(name, isHere ? host.clients.sqs : awsClients({ region }).sqs);
    }
    case 'topic': {
      const at = optionsOf(host.services?.topics, region);
      const arn = name.startsWith('arn:') ? name : `${setting(environment, 'topics')}${name}`;
      return 'missing' in at ? noWay(at.missing) : wayToTopic(arn, new SNSClient({ ...TRIES, ...at }));
    }
    case 'event-bus': {
      const at = optionsOf(host.services?.eventBuses, region);
      return 'missing' in at ? noWay(at.missing) : wayToEventBus(name, new EventBridgeClient({ ...TRIES, ...at }));
    }
  }
};

/** A client calls one region: that of the ARN, where there is one. */
const optionsOf = (at: ServiceAt | undefined, region: string | undefined): ServiceAt =>
  at ?? (region === undefined ? {} : { region });

const noWay =
  (reason: string): Way =>
  () =>
    Promise.reject(new Error(reason));
