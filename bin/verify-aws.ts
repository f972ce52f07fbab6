/** The entry point of `npm run verify:aws`. */
import { run } from '../tools/verify-aws/program.ts';

process.exitCode = await run(process.argv.slice(2));
