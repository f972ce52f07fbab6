import { defineConfig } from '../../src/domain/config/schema/config.ts';

/**
 * Requests to downsample satellite scenes. A job that does this takes three minutes to start, so all requests of five
 * minutes become one job per product, which processes each scene once. In this example, a minute lasts one second.
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
