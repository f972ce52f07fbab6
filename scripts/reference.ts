/**
 * `npm run reference`: pages made of the docstrings of what the package exports, in docs/reference/api or the folder that is named.
 * `npm run build` puts them into the package. They are not committed: the docstrings are.
 */
import { spawnSync } from 'node:child_process';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const HERE = join(dirname(fileURLToPath(import.meta.url)), 'reference');
const out = resolve(process.argv[2] ?? join(HERE, '../../docs/reference/api'));

const typedoc = join(HERE, 'node_modules/typedoc/bin/typedoc');
const { status } = spawnSync(process.execPath, [typedoc, '--options', join(HERE, 'typedoc.json'), '--out', out], {
  stdio: 'inherit',
});
process.exitCode = status ?? 1;
