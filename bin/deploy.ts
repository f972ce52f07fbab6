/** The entry point of `npm run deploy` and `npm run destroy`. */
import { run } from '../tools/deploy/program.ts';

// If code in a configuration file exits the process, the exit status must not be 0.
const onExit = (): void => {
  console.error('The process ended before the command had finished.');
  process.exitCode = 1;
};
process.once('exit', onExit);
const status = await run(process.argv.slice(2));
process.off('exit', onExit);
process.exitCode = status;
