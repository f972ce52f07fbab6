/**
 * Builds the console's page. The output folder is `dist/console`, unless the console's server passes another folder.
 */
import { join } from 'node:path';
import { defineConfig } from 'vite';

// Set NODE_ENV, because a test that builds the page runs with another value but needs the same build.
process.env.NODE_ENV = 'production';

export default defineConfig({
  root: import.meta.dirname,
  // Use relative URLs, so that the page works under any URL. The addresses of views are in the fragment after the `#`.
  base: './',
  build: {
    outDir: join(import.meta.dirname, '../../../dist/console'),
    emptyOutDir: true,
    target: 'es2022',
    // Inline no assets, because the page's policy does not allow images inside the style sheet (data URLs).
    assetsInlineLimit: 0,
  },
});
