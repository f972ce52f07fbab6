/**
 * The units that DynamoDB charges for the calls of a fleet as src/aws makes them, for each partition key that a call
 * uses.
 */

import type { Lease } from '../../src/domain/fleets/fleet.ts';
import type { FleetName, PartitionId } from '../../src/domain/fleets/ids.ts';
import type { Fleets, Held } from '../../src/ports/fleets.ts';
import type { Prices, Spent } from '../../src/processes/units.ts';
import { checkpointKey, leaseKey, nodeRow } from '../../src/rows/fleet-rows.ts';
import { itemSize, readUnits, writeUnits } from '../../src/rows/item-size.ts';

/** The size of a row's other attributes, in bytes: owner, fence, times, version, asking node. */
const LEASE_BYTES = 150;
const CHECKPOINT_BYTES = 40;

/** @param bytes the size that a checkpoint is assumed to have, whatever the size of the simulated checkpoints */
export const fleetPrices = (bytes: number): Prices<Fleets> => {
  const checkpointRow = (fleet: FleetName, partition: PartitionId): number =>
    writeUnits(itemSize(checkpointKey(fleet, partition)) + CHECKPOINT_BYTES + bytes);
  const leaseSize = (fleet: FleetName, { partition, checkpointApart }: Pick<Lease, 'partition' | 'checkpointApart'>) =>
    itemSize(leaseKey(fleet, partition)) + LEASE_BYTES + (checkpointApart ? 0 : bytes);
  const under = (fleet: FleetName, units: Omit<Spent, 'table'>): readonly Spent[] => [
    { table: 'fleet', partition: fleet, ...units },
  ];
  const write = ([fleet]: readonly [FleetName, ...unknown[]]) => under(fleet, { write: 1 });
  const ofLease = ([fleet, lease]: readonly [FleetName, Lease | Held, ...unknown[]]) =>
    under(fleet, { write: writeUnits(leaseSize(fleet, lease)) });
  return {
    join: write,
    beat: write,
    evict: write,
    leave: write,
    read: ([fleet], { nodes, leases } = { nodes: [], leases: [] }) => {
      const rows = [
        ...nodes.map((node) => itemSize(nodeRow(fleet, node, 0))),
        ...leases.map((lease) => leaseSize(fleet, lease)),
      ];
      return under(fleet, { read: readUnits(rows.reduce((sum, size) => sum + size, 0)) });
    },
    take: ofLease,
    ask: ofLease,
    decline: ofLease,
    handOver: ofLease,
    open: ([fleet, lease]) => [
      { table: 'fleet', partition: `checkpoint of ${lease.partition}`, write: checkpointRow(fleet, lease.partition) },
      // With its first separate checkpoint, the lease's row also records that its checkpoint has a row of its own.
      ...(lease.checkpointApart ? [] : ofLease([fleet, lease])),
    ],
    checkpoint: ([fleet, held]) =>
      held.checkpointApart
        ? [
            {
              table: 'fleet',
              partition: `checkpoint of ${held.partition}`,
              write: checkpointRow(fleet, held.partition),
            },
          ]
        : ofLease([fleet, held]),
  };
};
