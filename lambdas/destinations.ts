/** Creates the connection to each destination, of any kind, when the first event is sent to that destination. */

import { wayByHttp } from '../src/destinations/http.ts';
import { wayToQueue } from '../src/destinations/queue.ts';
import { type Destination, inRegionOf } from '../src/domain/config/endpoints.ts';
import type { Environment } from '../src/domain/deployed/environment.ts';
import type { Way } from '../src/ports/callbacks.ts';
import type { Machine } from '../src/ports/machine.ts';
import type { DeliverDeps } from '../src/steps/deliver/deliver-to.ts';
import { arnOf, clientOfQueue } from './arns.ts';
import type { Host } from './host.ts';
import { once } from './lazy.ts';
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

const wayInAws = (
  kind: Exclude<Destination['kind'], 'http'>,
  name: string,
  environment: Environment,
  host: Host,
): Way => {
  switch (kind) {
    case 'queue':
      return wayToQueue(name, clientOfQueue(name, environment, host));
    case 'topic': {
      const at = host.services?.topics ?? inRegionOf(name);
      const arn = arnOf(name, 'topics', environment);
      if ('missing' in at) return unreachable(at.missing);
      return loadedOnDemand(async () => {
        const { topicClient, wayToTopic } = await import('../src/destinations/topic.ts');
        return wayToTopic(arn, topicClient(at));
      });
    }
    case 'event-bus': {
      const at = host.services?.eventBuses ?? inRegionOf(name);
      if ('missing' in at) return unreachable(at.missing);
      return loadedOnDemand(async () => {
        const { eventBusClient, wayToEventBus } = await import('../src/destinations/event-bus.ts');
        return wayToEventBus(name, eventBusClient(at));
      });
    }
  }
};

const loadedOnDemand = (load: () => Promise<Way>): Way => {
  const loaded = once(load);
  return async (event) => (await loaded())(event);
};

const unreachable =
  (reason: string): Way =>
  () =>
    Promise.reject(new Error(reason));
