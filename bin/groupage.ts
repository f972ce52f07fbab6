#!/usr/bin/env node
/** The entry point of the command line. */
import { nodeProblem } from '../src/node/version.ts';

// The program that reads the output may close the pipe early, as in `groupage tasks | head`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});

/** Ctrl-C before the program is loaded, when nothing has begun. */
const onEarlyInterrupt = (): void => {
  console.error('Stopped.');
  process.exit(130);
};

/** The program is loaded only on a supported Node.js, since the AWS SDK that it loads warns on others, or fails. */
const main = async (): Promise<number> => {
  const problem = nodeProblem(process.versions.node);
  if (problem !== undefined) {
    console.error(problem);
    return 1;
  }
  process.once('SIGINT', onEarlyInterrupt);
  const { run } = await import('../tools/cli/program.ts');
  process.off('SIGINT', onEarlyInterrupt);
  return run(process.argv.slice(2));
};
process.exitCode = await main();
