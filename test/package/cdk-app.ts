/** An app made by `cdk init`, with Groupage in it as documented. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { blocksOf } from '../docs/blocks.ts';
import { install, run, type Tarball } from './tarball.ts';

const TUTORIAL = 'docs/tutorials/first-batches.md';

const CDK = join(import.meta.dirname, '../../node_modules/aws-cdk/bin/cdk');

/** Packages of `cdk init` that only the app's own tests would need. */
const NOT_WANTED = ['jest', '@types/jest', '@swc/core', '@swc/jest', 'aws-cdk'];

/** A file that the tutorial gives. */
const fileOf = (name: string): string => {
  const block = blocksOf(TUTORIAL).find(({ title }) => title === name);
  if (!block) throw new Error(`the tutorial has no ${name}`);
  return block.text;
};

/** Makes the app in an empty folder named `app`, so that its stack is `AppStack`, and installs its packages. */
export const makeApp = async (folder: string, tarball: Tarball): Promise<void> => {
  await run(folder, process.execPath, [CDK, 'init', 'app', '--language', 'typescript', '--generate-only']);
  const path = join(folder, 'package.json');
  const manifest = JSON.parse(readFileSync(path, 'utf8')) as { devDependencies: Record<string, string> };
  for (const name of NOT_WANTED) delete manifest.devDependencies[name];
  writeFileSync(path, JSON.stringify(manifest));
  const options = readFileSync(join(folder, 'tsconfig.json'), 'utf8').replace(/"jest",\s*/, '');
  // The package's own types must be valid too.
  writeFileSync(join(folder, 'tsconfig.json'), options.replace('"skipLibCheck": true', '"skipLibCheck": false'));
  rmSync(join(folder, 'test'), { recursive: true });
  writeFileSync(join(folder, 'lib/app-stack.ts'), fileOf('lib/app-stack.ts'));
  await install(folder, tarball);
};
