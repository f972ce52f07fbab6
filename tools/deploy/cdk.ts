/** Runs `cdk` with its output passed through, until it ends or is interrupted. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../lib/temporary-folder.ts';
import { runChild } from '../run-child.ts';

const ROOT = join(import.meta.dirname, '../..');

/** Settings of each run of `cdk`. */
export interface CdkSettings {
  readonly stage: string;
  /** The configuration that the app reads. */
  readonly config: string;
  readonly region: string;
  /** The context `api`. @default - that of cdk.json */
  readonly api?: string;
}

/** How a run of `cdk` ended. */
export interface CdkEnd {
  readonly succeeded: boolean;
  readonly interrupted: boolean;
}

export const cdk = (settings: CdkSettings, ...args: readonly string[]): Promise<CdkEnd> =>
  untilInterrupted(async (signal) => ({
    succeeded: await succeeds(settings, args, signal),
    interrupted: signal.aborted,
  }));

/** Whether the context of cdk.json sets a value. */
export const cdkJsonHas = (name: string): boolean => {
  const { context = {} } = JSON.parse(readFileSync(join(ROOT, 'cdk.json'), 'utf8')) as { readonly context?: object };
  return Object.hasOwn(context, name);
};

/** The arguments that set the app's context. */
export const contextOf = ({ stage, api }: Pick<CdkSettings, 'stage' | 'api'>): readonly string[] => [
  ...['-c', `stage=${stage}`],
  ...(api === undefined ? [] : ['-c', `api=${api}`]),
];

/** @param signal ends the process. */
const succeeds = async (settings: CdkSettings, args: readonly string[], signal: AbortSignal): Promise<boolean> => {
  // Use a separate output folder for each run, because `cdk` locks its output folder against other runs.
  const own = ['--output', temporaryFolder('cdk'), ...contextOf(settings), '--no-notices'];
  const env = { AWS_REGION: settings.region, GROUPAGE_CONFIG: settings.config };
  const program = join(ROOT, 'node_modules/aws-cdk/bin/cdk');
  return (await runChild([program, ...args, ...own], { cwd: ROOT, env, signal })) === 0;
};

/**
 * Signals within this time, in milliseconds, count as one signal, because npm and the terminal may both send the same
 * signal.
 */
const SAME_WITHIN = 1_000;

let last = Number.NEGATIVE_INFINITY;

/**
 * Ctrl-C and SIGTERM end the work, but not this process, which then reports which stacks exist.
 *
 * Two parts can be interrupted, each once: the deployment, and the clean-up after it. A first Ctrl-C ends the
 * deployment and starts the clean-up; a second Ctrl-C ends the clean-up. Outside these parts a signal ends the process
 * as usual. Parts may contain other parts, which the same signal ends.
 *
 * @param work must end soon after its signal is aborted.
 */
export const untilInterrupted = async <T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> => {
  const stop = new AbortController();
  const onSignal = (): void => {
    const now = performance.now();
    if (now - last >= SAME_WITHIN) stop.abort();
    // Not at once, because work within this work gets the same signal.
    setImmediate(() => {
      last = now;
    });
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
