/** `npm run deploy`, `npm run destroy`. */
import { run } from '../tools/deploy/program.ts';

// Only what has succeeded may look so, whatever a configuration does to the process in between.
const onExit = (): void => {
  console.error('The command was ended before it was done.');
  process.exitCode = 1;
};
process.once('exit', onExit);
const status = await run(process.argv.slice(2));
process.off('exit', onExit);
process.exitCode = status;
