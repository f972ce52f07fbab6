/** Ctrl-C in the middle of something that takes many requests: the command still says how far it came. */

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
