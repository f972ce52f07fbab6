/** The bar of commands that read a file. */
import { type ProgressResult, progress } from '@clack/prompts';

/**
 * On the standard error, where that is a terminal with a width: on one without, which has no window, each letter would
 * have a line of its own.
 */
export const progressBar = (max: number, output = process.stderr): ProgressResult | undefined =>
  output.isTTY && output.columns > 0 ? progress({ max: Math.max(1, max), output }) : undefined;
