#!/usr/bin/env node
/** The command line. */
import { run } from '../tools/cli/program.ts';

// Whoever reads may have had enough: `groupage tasks | head`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});
process.exitCode = await run(process.argv.slice(2));
