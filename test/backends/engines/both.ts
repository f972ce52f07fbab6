/** Two engines that test files share. */
import type { Started } from '../setup.ts';
import type { Engine } from './engine.ts';

/** Starts both engines at once. If one fails, stops the other. @throws the first error */
export const startBoth = async (
  startDynamoDB: () => Promise<Engine>,
  startSqs: () => Promise<Engine>,
): Promise<Started> => {
  const starts = await Promise.allSettled([startDynamoDB(), startSqs()]);
  const running = starts.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  const stop = async (): Promise<void> => {
    await Promise.all(running.map((engine) => engine.stop()));
  };
  const [dynamodb, sqs] = running;
  const failed = starts.find((each) => each.status === 'rejected');
  if (failed || !dynamodb || !sqs) {
    await stop();
    throw failed?.reason;
  }
  return { given: { functions: 'here', engines: { dynamodb: dynamodb.endpoint, sqs: sqs.endpoint } }, stop };
};
