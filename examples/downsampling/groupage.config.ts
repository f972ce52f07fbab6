import { defineConfig } from '../../src/domain/config/schema/config.ts';

/**
 * Requests to downsample scenes of satellites, for jobs that take three minutes to start: those of five minutes become one
 * job of each product, with every scene once. Here a minute is a second.
 */
export default defineConfig({
  operations: {
    downsample: {
      target: ['product'],
      batch: { window: '5s', maxSize: 1_000, maxBytes: 6_000_000 },
      merge: { keys: 'scenes[].id' },
      concurrency: { total: 25 },
      downstream: { kind: 'http', url: 'http://127.0.0.1:9200/jobs', timeout: '2m' },
      retry: { immediate: 0, minDelay: '500ms', maxDelay: '5s' },
    },
  },
});
