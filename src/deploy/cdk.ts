/** Runs `cdk`, its output passed through. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

/** What every run of it gets. */
export interface CdkSettings {
  readonly stage: string;
  /** The configuration that the app reads. */
  readonly config: string;
  readonly region: string;
}

/** @returns whether it succeeded. */
export const cdk = ({ stage, config, region }: CdkSettings, ...args: readonly string[]): Promise<boolean> =>
  new Promise((resolve, reject) => {
    const child = spawn(
      process.execPath,
      [join(ROOT, 'node_modules/aws-cdk/bin/cdk'), ...args, '-c', `stage=${stage}`, '--no-notices'],
      { cwd: ROOT, stdio: 'inherit', env: { ...process.env, AWS_REGION: region, GROUPAGE_CONFIG: config } },
    );
    // Ctrl-C reaches the child by itself. What it leaves has to be looked at then, so this process goes on.
    const onInterrupt = (): void => {};
    const onTerminate = (): boolean => child.kill('SIGTERM');
    process.on('SIGINT', onInterrupt);
    process.on('SIGTERM', onTerminate);
    const over = (): void => {
      process.off('SIGINT', onInterrupt);
      process.off('SIGTERM', onTerminate);
    };
    child.once('error', (cause) => {
      over();
      reject(cause);
    });
    child.once('exit', (code) => {
      over();
      resolve(code === 0);
    });
  });
