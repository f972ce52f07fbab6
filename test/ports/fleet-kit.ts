/** For the tests of the port of fleets: nodes, a partition, and a fleet of its own for each test. */
import type { Lease } from '../../src/domain/fleets/fleet.ts';
import type { FleetName } from '../../src/domain/fleets/ids.ts';
import { NOW } from '../factories/factories.ts';
import { fleet, nodeOf, partition } from '../factories/fleets.ts';
import { fresh } from './names.ts';
import type { Stores } from './stores.ts';

export const [A, B, C] = [nodeOf('a'), nodeOf('b'), nodeOf('c')];
export const P = partition('p-00');
/** A partition without a lease. */
export const UNKNOWN = { partition: P, fence: 0 };

export const newFleet = (): FleetName => fleet(`f-${fresh().t(1)}`);

export const fleetsIn = (stores: () => Stores) => {
  const store = () => stores().fleets;
  const leaseIn = async (name: FleetName, id = P): Promise<Lease | undefined> =>
    (await store().read(name)).leases.find(({ partition }) => partition === id);
  /** A fleet in which node `a` owns the partition. */
  const owned = async (): Promise<{ name: FleetName; lease: Lease }> => {
    const name = newFleet();
    const lease = await store().take(name, UNKNOWN, A, NOW);
    if (!lease) throw new Error('it was not taken');
    return { name, lease };
  };
  return { store, leaseIn, owned };
};
