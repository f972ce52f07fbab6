/** The thread of the local SQS. It sends its endpoint or its error to the main thread, and stops on a message. */
import { parentPort, workerData } from 'node:worker_threads';
import { reasonOf } from '../../src/util/problems.ts';
import { StartFailure } from '../failure.ts';
import { type SqsOptions, serveSqs } from './sqs-server.ts';

/** The first message of the thread. */
export type FromThread =
  | { readonly endpoint: string }
  | {
      readonly failure: {
        readonly message: string;
        readonly code?: string | undefined;
        readonly isStartFailure: boolean;
      };
    };

const say = (message: FromThread): void => parentPort?.postMessage(message);

try {
  const server = await serveSqs(workerData as SqsOptions);
  parentPort?.once('message', () => void server.stop());
  say({ endpoint: server.endpoint });
} catch (cause) {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : undefined;
  say({ failure: { message: reasonOf(cause), code, isStartFailure: cause instanceof StartFailure } });
}
