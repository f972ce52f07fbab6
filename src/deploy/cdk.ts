/** Runs `cdk`, its output passed through. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { temporaryFolder } from '../temporary-folder.ts';

const ROOT = join(import.meta.dirname, '../..');

/** What every run of it gets. */
export interface CdkSettings {
  readonly stage: string;
  /** The configuration that the app reads. */
  readonly config: string;
  readonly region: string;
  /** Ends it. */
  readonly signal: AbortSignal;
}

/** @returns whether it succeeded. */
export const cdk = ({ stage, config, region, signal }: CdkSettings, ...args: readonly string[]): Promise<boolean> =>
  new Promise((resolve, reject) => {
    // A folder of its own for what it synthesises: in a shared one, runs lock each other out.
    const own = ['--output', temporaryFolder('cdk'), '-c', `stage=${stage}`, '--no-notices'];
    const child = spawn(process.execPath, [join(ROOT, 'node_modules/aws-cdk/bin/cdk'), ...args, ...own], {
      cwd: ROOT,
      stdio: 'inherit',
      env: { ...process.env, AWS_REGION: region, GROUPAGE_CONFIG: config },
    });
    // Ctrl-C reaches the child by itself, other signals do not.
    const end = (): boolean => child.kill('SIGTERM');
    if (signal.aborted) end();
    signal.addEventListener('abort', end);
    child.once('error', (cause) => {
      signal.removeEventListener('abort', end);
      reject(cause);
    });
    child.once('exit', (code) => {
      signal.removeEventListener('abort', end);
      resolve(code === 0);
    });
  });
