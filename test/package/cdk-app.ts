/** An app as `cdk init` makes it, with Groupage in it as the documentation says. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { blocksOf } from '../docs/blocks.ts';
import { install, run, type Tarball } from './tarball.ts';

const TUTORIAL = 'docs/tutorials/first-batches.md';

const CDK = join(import.meta.dirname, '../../node_modules/aws-cdk/bin/cdk');

/** What `cdk init` asks for and a test of the app itself would want. */
const NOT_WANTED = ['jest', '@types/jest', '@swc/core', '@swc/jest', 'aws-cdk'];

/** A file that the tutorial says to write. */
const fileOf = (name: string): string => {
  const block = blocksOf(TUTORIAL).find(({ title }) => title === name);
  if (!block) throw new Error(`the tutorial has no ${name}`);
  return block.text;
};

/** Makes the app in an empty folder, which has to be called `app`: its stack is `AppStack` then. Installs all that it needs. */
export const makeApp = async (folder: string, tarball: Tarball): Promise<void> => {
  await run(folder, process.execPath, [CDK, 'init', 'app', '--language', 'typescript', '--generate-only']);
  const path = join(folder, 'package.json');
  const manifest = JSON.parse(readFileSync(path, 'utf8')) as { devDependencies: Record<string, string> };
  for (const name of NOT_WANTED) delete manifest.devDependencies[name];
  writeFileSync(path, JSON.stringify(manifest));
  const options = readFileSync(join(folder, 'tsconfig.json'), 'utf8').replace(/"jest",\s*/, '');
  // Ours too must be right.
  writeFileSync(join(folder, 'tsconfig.json'), options.replace('"skipLibCheck": true', '"skipLibCheck": false'));
  rmSync(join(folder, 'test'), { recursive: true });
  writeFileSync(join(folder, 'lib/app-stack.ts'), fileOf('lib/app-stack.ts'));
  await install(folder, tarball);
};
