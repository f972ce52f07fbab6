/** Runs `cdk`, its output passed through, until it ends or is interrupted. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { temporaryFolder } from '../../lib/temporary-folder.ts';

const ROOT = join(import.meta.dirname, '../..');

/** What every run of it gets. */
export interface CdkSettings {
  readonly stage: string;
  /** The configuration that the app reads. */
  readonly config: string;
  readonly region: string;
}

/** How a run of it ended. */
export interface CdkEnd {
  readonly succeeded: boolean;
  readonly interrupted: boolean;
}

export const cdk = (settings: CdkSettings, ...args: readonly string[]): Promise<CdkEnd> =>
  untilInterrupted(async (signal) => ({
    succeeded: await succeeds(settings, args, signal),
    interrupted: signal.aborted,
  }));

/** @param signal ends it. */
const succeeds = (
  { stage, config, region }: CdkSettings,
  args: readonly string[],
  signal: AbortSignal,
): Promise<boolean> =>
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

/** What comes sooner after a signal is the same one: npm and the terminal may both send it. */
const SAME_WITHIN = 1_000;

let last = Number.NEGATIVE_INFINITY;

/**
 * Ctrl-C and SIGTERM: they end what runs, not this process, which then says what stands.
 *
 * A deployment has two parts that can be ended, each once: making, and the clean-up after it. So the second Ctrl-C gives
 * up what the first one began. Between them, and after them, a signal ends the process as always.
 *
 * @param work ends early, and soon, when its signal is aborted.
 */
export const untilInterrupted = async <T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> => {
  const stop = new AbortController();
  const onSignal = (): void => {
    const now = performance.now();
    if (now - last >= SAME_WITHIN) stop.abort();
    last = now;
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  try {
    return await work(stop.signal);
  } finally {
    process.off('SIGINT', onSignal);
    process.off('SIGTERM', onSignal);
  }
};
