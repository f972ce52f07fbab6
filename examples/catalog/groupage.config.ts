import { defineConfig } from '../../src/domain/config/schema/config.ts';

/**
 * A search index receives catalogue items, up to 100 items of one department per call. One event reports that the whole
 * catalogue is done.
 */
export default defineConfig({
  operations: {
    'index-item': {
      target: ['department'],
      batch: { maxSize: 100, maxWait: '1s' },
      downstream: { kind: 'http', url: 'http://127.0.0.1:9300/index' },
      retry: { minDelay: '500ms', maxDelay: '5s' },
      circuit: { failures: 5, coolDown: '1s' },
    },
  },
  destinations: { 'catalog-done': { kind: 'queue', name: 'catalog-done' } },
  fanOuts: { callback: 'catalog-done' },
});
