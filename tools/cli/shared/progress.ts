/** What a command that takes many requests says of how far it came: a bar on a terminal, and a last word after Ctrl-C. */
import { type ProgressResult, progress } from '@clack/prompts';

/** The exit status of what Ctrl-C ended. */
const INTERRUPTED = 130;

/**
 * Does some work, which Ctrl-C ends with the process.
 *
 * @param say what is done so far. It has to print at once.
 */
export const orInterrupted = async <T>(say: () => void, work: () => Promise<T>): Promise<T> => {
  // Whatever else ends the process amid the work, such as a bar that takes the key itself, and as a success: it was interrupted.
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
 * A bar on the standard error, where that is a terminal with a width: on one without, which has no window, each letter would
 * have a line of its own.
 */
export const progressBar = (max: number, output = process.stderr): ProgressResult | undefined =>
  output.isTTY && output.columns > 0 ? progress({ max: Math.max(1, max), output }) : undefined;
