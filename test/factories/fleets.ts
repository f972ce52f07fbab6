/** Factories for rows of fleets, so that a test states only the fields that matter to it. */
import type { Lease, Node } from '../../src/domain/fleets/fleet.ts';
import {
  type FleetName,
  fleetName,
  type NodeKey,
  type PartitionId,
  parseNodeKey,
  partitionId,
} from '../../src/domain/fleets/ids.ts';
import type { Held } from '../../src/ports/fleets.ts';
import { NOW } from './factories.ts';

const sure = <T>(value: T | undefined, text: string): T => {
  if (value === undefined) throw new Error(`${JSON.stringify(text)} is not a valid name`);
  return value;
};

export const fleet = (text: string): FleetName => sure(fleetName(text), text);
export const partition = (text: string): PartitionId => sure(partitionId(text), text);
/** The first life of a node, or `id@epoch`. */
export const nodeOf = (text: string): NodeKey => sure(parseNodeKey(text.includes('@') ? text : `${text}@1`), text);

export const aNode = (fields: Partial<Node> = {}): Node => ({
  key: nodeOf('a'),
  beat: 0,
  ttl: 30_000,
  startedAt: NOW,
  beatAt: NOW,
  ...fields,
});

/** The part of a lease that its owner needs for its calls. */
export const held = ({ partition, fence, owner }: Lease): Held => ({ partition, fence, owner: sure(owner, partition) });
