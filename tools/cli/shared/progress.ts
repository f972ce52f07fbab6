/** Progress of a command that makes many requests: a bar on a terminal, and a report after Ctrl-C. */
import { type ProgressResult, progress } from '@clack/prompts';

/** Exit status after Ctrl-C. */
const INTERRUPTED = 130;

/**
 * Does some work. Ctrl-C ends the process, after a report.
 *
 * @param say prints how far the work got. It must print synchronously, because the process is exiting.
 */
export const orInterrupted = async <T>(say: () => void, work: () => Promise<T>): Promise<T> => {
  // The progress bar reads the keyboard itself and exits with status 0 on Ctrl-C. Any exit during the work is an interruption.
  const onExit = (): void => {
    process.exitCode = INTERRUPTED;
    say();
  };
  const onSignal = (): void => process.exit(INTERRUPTED);
  process.once('exit', onExit);
  process.once('SIGINT', onSignal);
  try {
    return await work();
  } finally {
    process.off('exit', onExit);
    process.off('SIGINT', onSignal);
  }
};

/**
 * A bar on the standard error, if that is a terminal with a width. In a terminal that reports no width, the bar would
 * print each letter on a line of its own.
 */
export const progressBar = (max: number, output = process.stderr): ProgressResult | undefined =>
  output.isTTY && output.columns > 0 ? progress({ max: Math.max(1, max), output }) : undefined;
