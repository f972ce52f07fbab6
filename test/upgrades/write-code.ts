/**
 * Writes the functions of a release as one module. side-by-side.test.ts runs it beside this release's functions. Run
 * against a checkout of the release:
 *
 *     node scripts/run.mjs test/upgrades/write-code.ts ../groupage-0.2.0 0.2.0
 */
import { resolve } from 'node:path';
import { build } from 'esbuild';
import { HANDLERS } from '../../lib/handler-names.ts';
import { packCode } from './former-code.ts';

const [release = '', version = ''] = process.argv.slice(2);
if (!release || !version) throw new Error('usage: write-code.ts CHECKOUT VERSION');

const names = HANDLERS.filter((name) => name !== 'api');
const imports = names.map((name, n) => `import { compose as f${n} } from './lambdas/${name}.ts';`);
const functions = names.map((name, n) => `'${name}': f${n}`);
const {
  outputFiles: [code],
} = await build({
  stdin: {
    contents: [...imports, `export const functions = { ${functions.join(', ')} };`].join('\n'),
    resolveDir: resolve(release),
  },
  bundle: true,
  write: false,
  minify: true,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  // The code that loads the module provides the clients.
  external: ['@aws-sdk/*'],
  banner: { js: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);" },
});
if (!code) throw new Error('esbuild wrote no module');
packCode(version, code.text);
