/** The configuration with which fixtures are written, and which later releases use on them. */
import type { ConfigInput } from '../../src/domain/config/schema/config.ts';

/** The operations by name. Each leaves work in one state for the next release. */
export type UpgradeOperation =
  | 'waiting'
  | 'retried'
  | 'job'
  | 'capped'
  | 'paused'
  | 'circuit'
  | 'failing'
  | 'done'
  | 'merging'
  | 'busy'
  | 'hanging'
  | 'removed';

type OperationInput = ConfigInput['operations'][string];

export const TOLD = 'groupage-upgrade-told';
/** A destination queue that is deleted before the upgrade, so that its events stay undelivered. */
export const DELETED = 'groupage-upgrade-deleted';

/** @param url of the downstream, which tells operations apart by their names. */
export const upgradeConfig = (url: string): ConfigInput => {
  const operation = (name: UpgradeOperation, fields: Partial<OperationInput> = {}): OperationInput => ({
    target: ['depot'],
    downstream: { kind: 'http', url: `${url}?operation=${name}`, timeout: '60s', deadline: '2d' },
    batch: { maxSize: 20, maxWait: '500ms' },
    retry: { immediate: 0, maxAttempts: 100, minDelay: '2s', maxDelay: '5s' },
    circuit: null,
    keepTasks: '3650d',
    ...fields,
  });
  return {
    operations: {
      waiting: operation('waiting', { batch: { maxSize: 20, maxWait: '7d', maxWeight: 1_000 } }),
      retried: operation('retried'),
      job: operation('job'),
      capped: operation('capped', { concurrency: { perTarget: 1, total: 1 } }),
      paused: operation('paused'),
      circuit: operation('circuit', { circuit: { failures: 1, coolDown: '15m' } }),
      failing: operation('failing', { callbacks: { failed: 'deleted' } }),
      done: operation('done', { callbacks: { succeeded: 'told' } }),
      merging: operation('merging', { batch: { window: '1s' }, merge: { keys: 'inputs[].id' } }),
      busy: operation('busy', { batch: { maxSize: 5, maxWait: '200ms' } }),
      hanging: operation('hanging'),
      removed: operation('removed', { batch: { maxSize: 20, maxWait: '7d' } }),
    },
    destinations: { told: { kind: 'queue', name: TOLD }, deleted: { kind: 'queue', name: DELETED } },
    fanOuts: { callback: 'told', idleOpen: '90d', idleSealed: '90d', keep: '90d' },
    lists: { callback: 'told', keep: '90d' },
  };
};
