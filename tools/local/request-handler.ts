/**
 * Makes the requests of a local stack. undici takes a third of the processor time of Node.js' own client, and a burst keeps the
 * thread of the functions busy throughout.
 */
import { UndiciHttpHandler } from '@smithy/undici-http-handler';
import type { RequestHandler } from '../../src/aws/clients.ts';

/** Connections to an engine. */
const CONNECTIONS = 128;

/**
 * A try may take longer than in an account (`AWS_TRY`): an engine on a busy machine is slow, and to ask it again makes it no faster.
 * A function's requests end with its time all the same.
 */
export const quickHandler = (): RequestHandler =>
  new UndiciHttpHandler({
    dispatcher: { connections: CONNECTIONS, connect: { timeout: 2_000 }, headersTimeout: 4_000, bodyTimeout: 4_000 },
  });

/** For long polls, each of which has its connection for as long as it waits. */
export const patientHandler = (): RequestHandler => new UndiciHttpHandler({ dispatcher: { connections: 1_024 } });
