#!/usr/bin/env node
/** The entry point of the command line. */
import { nodeProblem } from '../src/node/version.ts';

// The program that reads the output may close the pipe early, as in `groupage tasks | head`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});

/** The program is loaded only on a supported Node.js, since the AWS SDK that it loads warns on others, or fails. */
const main = async (): Promise<number> => {
  const problem = nodeProblem(process.versions.node);
  if (problem !== undefined) {
    console.error(problem);
    return 1;
  }
  const { run } = await import('../tools/cli/program.ts');
  return run(process.argv.slice(2));
};
process.exitCode = await main();
