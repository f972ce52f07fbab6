/** The identifiers of fleets, their nodes and their partitions. Only this file builds and parses them. */

declare const brand: unique symbol;

/** Names a fleet. One table can hold several fleets. */
export type FleetName = string & { readonly [brand]: 'FleetName' };
/** Names one share of the fleet's work. */
export type PartitionId = string & { readonly [brand]: 'PartitionId' };
/** The name of a node. Two processes may have the same name. */
export type NodeId = string & { readonly [brand]: 'NodeId' };
/**
 * `id@epoch`: one life of a node. It ends with its process, or when another node evicts it. The next life has another
 * key.
 */
export type NodeKey = string & { readonly [brand]: 'NodeKey' };

/** The form of the names of fleets and partitions. */
export const FLEET_NAME_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/;
const NODE = '[A-Za-z0-9][A-Za-z0-9._:-]{0,63}';
const EPOCH = '[0-9a-z]{1,26}';
const NODE_PATTERN = new RegExp(`^${NODE}$`);
const NODE_KEY_PATTERN = new RegExp(`^${NODE}@${EPOCH}$`);
/** The form of a node's key or id. */
export const KEY_OR_ID_PATTERN = new RegExp(`^${NODE}(?:@${EPOCH})?$`);

export const FLEET_NAME_RULE =
  'must be a text of 1 to 128 characters of A-Z a-z 0-9 . _ : - and begin with a letter or a digit';
export const NODE_ID_RULE =
  'must be a text of 1 to 64 characters of A-Z a-z 0-9 . _ : - and begin with a letter or a digit';

/** Returns the name if it may name a fleet, otherwise undefined. */
export const fleetName = (value: unknown): FleetName | undefined =>
  typeof value === 'string' && FLEET_NAME_PATTERN.test(value) ? (value as FleetName) : undefined;

/** Returns the id if it may name a partition, otherwise undefined. */
export const partitionId = (value: unknown): PartitionId | undefined =>
  typeof value === 'string' && FLEET_NAME_PATTERN.test(value) ? (value as PartitionId) : undefined;

/** Returns the id if it may name a node, otherwise undefined. */
export const nodeId = (value: unknown): NodeId | undefined =>
  typeof value === 'string' && NODE_PATTERN.test(value) ? (value as NodeId) : undefined;

/** @param epoch differs for each life of a node: lower-case letters and digits */
export const nodeKey = (id: NodeId, epoch: string): NodeKey => `${id}@${epoch}` as NodeKey;

/** Returns the key if it may name a life of a node, otherwise undefined. */
export const parseNodeKey = (value: unknown): NodeKey | undefined =>
  typeof value === 'string' && NODE_KEY_PATTERN.test(value) ? (value as NodeKey) : undefined;

export const nodeIdOf = (key: NodeKey): NodeId => key.slice(0, key.indexOf('@')) as NodeId;
