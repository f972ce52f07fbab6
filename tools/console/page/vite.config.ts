/** Builds the console's page into `dist/console`, where its server finds it. */
import { join } from 'node:path';
import { defineConfig } from 'vite';

// Whoever builds it, a test for example, wants what everybody gets.
process.env.NODE_ENV = 'production';

export default defineConfig({
  root: import.meta.dirname,
  // Wherever it is served: its own address is in the part behind the `#`.
  base: './',
  build: {
    outDir: join(import.meta.dirname, '../../../dist/console'),
    emptyOutDir: true,
    target: 'es2022',
    // A picture inside of the style sheet would be one more source that the page's policy had to allow.
    assetsInlineLimit: 0,
  },
});
