/** `npm run deploy`, `npm run destroy`. */
import { run } from '../src/deploy/program.ts';

process.exitCode = await run(process.argv.slice(2));
