/** Operations for tests of the testbed. */
import type { ConfigInput } from '../../src/domain/config/schema/config.ts';
import { createTestbed, type TestbedOptions } from '../../src/testing/index.ts';

export interface Parcel {
  readonly depot: string;
  readonly n: number;
}
export type Parcels = { readonly ship: Parcel };

type OperationInput = ConfigInput['operations'][string];

/**
 * Parcels by depot, at most ten or one second's to a batch. `ops` gets the event of every end. @param ship fields that
 * differ
 */
export const parcels = (ship: Partial<OperationInput> = {}): ConfigInput => ({
  operations: {
    ship: {
      target: ['depot'],
      batch: { maxSize: 10, maxWait: '1s' },
      downstream: { kind: 'http', url: 'http://parcels.example/batch', timeout: '10s' },
      retry: { immediate: 0, minDelay: '1s', maxDelay: '1s', maxAttempts: 3 },
      callbacks: { failed: 'ops', succeeded: 'ops' },
      ...ship,
    },
  },
  destinations: { ops: { kind: 'queue', name: 'ops' } },
});

export const parcelBed = (options: TestbedOptions<Parcels> = {}, ship: Partial<OperationInput> = {}) =>
  createTestbed<Parcels>(parcels(ship), options);

/** `ship` tasks `p0`, `p1` and so on of one depot. */
export const shipments = (count: number, depot = 'MUC') =>
  Array.from({ length: count }, (_, n) => ({ operation: 'ship' as const, id: `p${n}`, payload: { depot, n } }));
