/** Is anything lost or failing? */
import type { GraphWidget } from 'aws-cdk-lib/aws-cloudwatch';
import { REPAIRED } from '../../src/domain/events/metrics.ts';
import { byOperation, graph, ofQueues } from './lines.ts';
import type { Watched } from './watched.ts';

export const isAnythingLost = (watched: Watched): GraphWidget[] => {
  const { config, flow, measured } = watched;
  const working = Object.entries(flow.workingQueues);
  const destinations = Object.keys(config.destinations);
  const deadLetters = Object.fromEntries(working.map(([name, queue]) => [name, queue.deadLetters]));
  const { rejectedQueue, givenUpQueue } = flow;
  const lying = {
    ...deadLetters,
    rejected: rejectedQueue.queue,
    ...(givenUpQueue ? { 'given up': givenUpQueue.queue } : {}),
  };
  const queues = working.map(([queue]) => queue);
  return [
    graph('Dead letters, refused messages and events given up', ofQueues(lying, 'ApproximateNumberOfMessagesVisible')),
    graph('Dead letters sent again, or unreadable', [
      ...queues.map((queue) => measured('DeadLettersRevived', { queue }, { label: `${queue} again` })),
      ...queues.map((queue) => measured('DeadLettersUnreadable', { queue }, { label: `${queue} unreadable` })),
    ]),
    graph('Messages refused', byOperation(watched, ['TasksRejected'])),
    graph('Tasks failed, of which some expired', byOperation(watched, ['TasksFailed', 'TasksExpired'])),
    graph('Batches failed', byOperation(watched, ['BatchesFailed'])),
    graph('Circuits opened, and closed', byOperation(watched, ['CircuitOpened', 'CircuitClosed'])),
    graph('Repairs', [measured('Repairs', {}), measured('FanOutsRepaired', {}), ...byOperation(watched, REPAIRED)]),
    graph('Leaders that took over', byOperation(watched, ['LockTakeovers'])),
    graph('Events of which nobody knows, or is told', [
      ...destinations.map((destination) =>
        measured('CallbacksFailed', { destination }, { label: `${destination} failed` }),
      ),
      ...destinations.map((destination) =>
        measured('DestinationsDown', { destination }, { label: `${destination} down` }),
      ),
      measured('EventsUntold', {}),
      measured('FanOutsExpired', {}),
      measured('ItemsUnknown', {}),
    ]),
  ];
};
