/**
 * Makes the requests of a local stack. undici takes a third of the processor time of Node.js' own client, and a burst keeps the
 * thread of the functions busy throughout.
 */
import { UndiciHttpHandler } from '@smithy/undici-http-handler';
import type { RequestHandler } from '../aws/clients.ts';
import { AWS_TRY } from '../batching/timings.ts';

/** Connections to an engine. */
const CONNECTIONS = 128;

/** Tries end as those of the functions in an account do (`src/aws/call-time.ts`). */
export const quickHandler = (): RequestHandler =>
  new UndiciHttpHandler({
    dispatcher: {
      connections: CONNECTIONS,
      connect: { timeout: AWS_TRY / 2 },
      headersTimeout: AWS_TRY,
      bodyTimeout: AWS_TRY,
    },
  });

/** For long polls, each of which has its connection for as long as it waits. */
export const patientHandler = (): RequestHandler => new UndiciHttpHandler({ dispatcher: { connections: 1_024 } });
