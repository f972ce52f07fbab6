/** Builds the console's page into `dist/console` by default. The console's server passes its own folder. */
import { join } from 'node:path';
import { defineConfig } from 'vite';

// A test that builds the page has another NODE_ENV, but needs the same build.
process.env.NODE_ENV = 'production';

export default defineConfig({
  root: import.meta.dirname,
  // Relative, so that the page works under any URL. Its own addresses are in the part after the `#`.
  base: './',
  build: {
    outDir: join(import.meta.dirname, '../../../dist/console'),
    emptyOutDir: true,
    target: 'es2022',
    // The page's policy does not allow images inside the style sheet (data URLs).
    assetsInlineLimit: 0,
  },
});
