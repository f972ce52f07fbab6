/** An app as `cdk init` makes it, with Groupage in it as the documentation says. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { install, run, type Tarball } from './tarball.ts';

const CDK = join(import.meta.dirname, '../../node_modules/aws-cdk/bin/cdk');

/** What `cdk init` asks for and a test of the app itself would want. */
const NOT_WANTED = ['jest', '@types/jest', '@swc/core', '@swc/jest', 'aws-cdk'];

/** A stack of somebody's. */
const STACK = `import * as cdk from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { Groupage, Ops } from 'groupage';
import config from '../groupage.config';

export class AppStack extends cdk.Stack {
  constructor(scope: Construct, id: string, props?: cdk.StackProps) {
    super(scope, id, props);
    const groupage = new Groupage(this, 'Groupage', { config });
    new Ops(this, 'Ops', groupage);
  }
}
`;

/** @param url of a batch API. */
const configWith = (url: string): string => `import { defineConfig } from 'groupage/config';

export default defineConfig({
  operations: {
    'distribute-parcels': {
      target: ['carrier', 'depot'],
      downstream: { kind: 'http', url: '${url}' },
    },
  },
});
`;

/**
 * Makes the app in an empty folder, which has to be called `app` (its stack is `AppStack` then), and installs all that it needs.
 *
 * @param url of its downstream.
 */
export const makeApp = async (
  folder: string,
  tarball: Tarball,
  url = 'https://parcels.example/batch',
): Promise<void> => {
  await run(folder, process.execPath, [CDK, 'init', 'app', '--language', 'typescript', '--generate-only']);
  const path = join(folder, 'package.json');
  const manifest = JSON.parse(readFileSync(path, 'utf8')) as { devDependencies: Record<string, string> };
  for (const name of NOT_WANTED) delete manifest.devDependencies[name];
  writeFileSync(path, JSON.stringify(manifest));
  const options = readFileSync(join(folder, 'tsconfig.json'), 'utf8').replace(/"jest",\s*/, '');
  // Ours too must be right.
  writeFileSync(join(folder, 'tsconfig.json'), options.replace('"skipLibCheck": true', '"skipLibCheck": false'));
  rmSync(join(folder, 'test'), { recursive: true });
  writeFileSync(join(folder, 'lib/app-stack.ts'), STACK);
  writeFileSync(join(folder, 'groupage.config.ts'), configWith(url));
  await install(folder, tarball);
};
