/** The example that `npm start` runs in a folder without a configuration: examples/flights, and its downstream. */
import { EXAMPLE_CONFIG } from '../../src/config/load.ts';
import { reasonOf } from '../../src/util/problems.ts';
import { StartFailure } from '../failure.ts';
import type { Example } from './run.ts';

/** The port of the example's downstream, unless the user chooses another. */
export const EXAMPLE_PORT = 9_100;

/** The configuration of the example reads the port of its downstream from this environment variable. */
const PORT_VARIABLE = 'GROUPAGE_EXAMPLE_PORT';

/** @param start the command that starts Groupage, for error messages. */
export const exampleOn = (port: number, start: string): Example => ({
  config: EXAMPLE_CONFIG,
  name: 'examples/flights',
  hints: [
    'Send a task:  npm run groupage -- send report-flights \'{"origin":"MUC","destination":"JFK","delay":12}\'',
    `Or thousands: npm run example:flights${port === EXAMPLE_PORT ? '' : ` -- --example-port ${port}`}`,
  ],
  start: async (print) => {
    process.env[PORT_VARIABLE] = String(port);
    const { startDownstream } = await import('../../examples/flights/downstream.ts');
    try {
      return await startDownstream(port, (origin, flights, status) =>
        print(`→ downstream: ${flights} of ${origin} ${status === 200 ? 'accepted' : `refused (${status})`}`),
      );
    } catch (cause) {
      throw new StartFailure(
        `the example's downstream cannot use port ${port} (${reasonOf(cause)}), so Groupage was not started. Choose another port: ${start} --example-port N. Or use your own configuration: ${start} --config FILE`,
      );
    }
  },
});
