import { defineConfig } from '../../src/domain/config/schema/config.ts';

/** `npm start -- --example-port N` moves the service to another port. */
const port = process.env.GROUPAGE_EXAMPLE_PORT ?? '9100';

/** The service accepts one call per second per origin, so each batch reports flights of one origin. */
export default defineConfig({
  operations: {
    'report-flights': {
      target: ['origin'],
      batch: { maxSize: 100, maxWait: '2s' },
      downstream: { kind: 'http', url: `http://127.0.0.1:${port}/batch`, timeout: '5s' },
    },
  },
});
