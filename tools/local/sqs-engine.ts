/**
 * Runs the local SQS in a thread of its own, on another core, because all functions, clients and event sources share
 * the main thread.
 */
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { StartFailure } from '../failure.ts';
import type { SqsOptions, SqsServer } from './sqs-server.ts';
import type { FromThread } from './sqs-thread.ts';

export interface SqsEngine extends SqsServer {
  /** Resolves to a message if the engine crashed. It is not restarted. */
  readonly died: Promise<string>;
}

/**
 * @param file module of the thread.
 * @throws StartFailure, or an error with the `code` of the operating system, such as `EADDRINUSE`
 */
export const startSqs = async (
  options: SqsOptions,
  file = new URL(`./sqs-thread${extname(import.meta.url)}`, import.meta.url),
): Promise<SqsEngine> => {
  const thread = new Worker(file, { workerData: options });
  const exited = new Promise<string>((resolve) => {
    thread.once('error', (error) => resolve(error.stack ?? error.message));
    thread.once('exit', (code) => resolve(`exit code ${code}`));
  });
  const first = await Promise.race([exited, said(thread)]);
  if (typeof first === 'string') throw new StartFailure(`fauxqs did not start (${first})`);
  if ('failure' in first) throw failureOf(first.failure);
  let isStopping = false;
  const died = new Promise<string>((resolve) => {
    void exited.then((why) => isStopping || resolve(`fauxqs crashed (${why})`));
  });
  return {
    endpoint: first.endpoint,
    died,
    stop: async () => {
      isStopping = true;
      thread.postMessage('stop');
      await exited;
    },
  };
};

const said = (thread: Worker): Promise<FromThread> => new Promise((resolve) => thread.once('message', resolve));

/** Restores an error: only its message and stack are passed between threads. */
const failureOf = ({ message, code, isStartFailure }: Extract<FromThread, { failure: unknown }>['failure']): Error =>
  isStartFailure ? new StartFailure(message) : Object.assign(new Error(message), code === undefined ? {} : { code });
