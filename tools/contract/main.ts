/** `npm run contract`: writes the published contract from the schemas. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { contractFiles, printed } from './files.ts';

const FOLDER = fileURLToPath(new URL('../../contract', import.meta.url));

mkdirSync(FOLDER, { recursive: true });
for (const [name, document] of Object.entries(contractFiles())) writeFileSync(join(FOLDER, name), printed(document));
