/** Sends one message to a thread, and returns its reply. */
import type { Worker } from 'node:worker_threads';

/** A thread's answer to a question. Send one question at a time. */
export const answerOf = <Answer>(worker: Worker, question: unknown): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const onExit = (code: number): void => reject(new Error(`a thread of the simulation stopped with code ${code}`));
    worker.once('message', (answer: Answer) => {
      worker.off('error', reject).off('exit', onExit);
      resolve(answer);
    });
    worker.once('error', reject).once('exit', onExit);
    worker.postMessage(question);
  });
