#!/usr/bin/env node
/** The command line. */
import { run } from '../src/cli/program.ts';

process.exitCode = await run(process.argv.slice(2));
