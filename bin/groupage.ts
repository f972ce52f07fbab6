#!/usr/bin/env node
/** The entry point of the command line. */
import { run } from '../tools/cli/program.ts';

// The program that reads the output may close the pipe early, as in `groupage tasks | head`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});
process.exitCode = await run(process.argv.slice(2));
