/** Where destinations are that the app names which deploys this, and not the configuration. Pure. */
import type { Destination } from '../config/endpoints.ts';
import type { Config } from '../config/resolved.ts';

/** @param places ARNs by the names of destinations: of a queue, topic or bus, or of the secret of an HTTP one; as JSON. */
export const placed = (destinations: Config['destinations'], places: string | undefined): Config['destinations'] => {
  if (places === undefined) return destinations;
  const arns = new Map(Object.entries(JSON.parse(places) as Record<string, string>));
  return Object.fromEntries(
    Object.entries(destinations).map(([name, destination]) => [name, at(destination, arns.get(name))]),
  );
};

const at = (destination: Destination, arn: string | undefined): Destination => {
  if (arn === undefined) return destination;
  return destination.kind === 'http'
    ? { ...destination, secret: { secretsManager: arn } }
    : { ...destination, name: arn };
};
