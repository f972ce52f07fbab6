/** What `npm start` shows of the flow: a line per batch, and whatever somebody should know. */

import { inFull } from '../../src/domain/downstream/downstream.ts';
import type { FlowEvent } from '../../src/domain/events/events.ts';
import { type FanOutId, isNumbered } from '../../src/domain/fan-out-ids.ts';
import { listOf } from '../../src/domain/lists/ids.ts';
import { plural } from '../terminal.ts';

/** A line for people, or nothing for events that are only of interest in a log. */
export const describe = (event: FlowEvent): string | undefined => {
  switch (event.event) {
    case 'sealed':
      return `▣ ${event.target}  ${plural(event.size, 'task')} (${event.because})`;
    case 'finished':
      return event.counts.failed > 0
        ? `✗ ${event.batchId}  ${event.counts.succeeded} succeeded, ${event.counts.failed} failed`
        : `✓ ${event.batchId}  ${event.counts.succeeded} succeeded`;
    case 'merged':
      return `⋈ ${event.target}  ${plural(event.requests, 'request')}, ${plural(event.inputs, 'input')}, ${event.skipped} done before${event.called ? '' : ': no job'}`;
    case 'postponed':
      return postponed(event);
    case 'not-stored':
      return `✗ ${event.batchId}  Groupage could not store the results. The downstream gets these tasks again later: ${event.cause}`;
    case 'sweep-cut':
      return `✗ the sweep ran out of time: ${event.left} ${UNSWEPT[event.part]} wait for a later sweep`;
    case 'circuit-opened':
      return `⏸ ${event.operation} is not called for a while${event.isMisconfigured || event.isThrottled ? '' : ` (${event.failures} failures in a row)`}: ${event.reason}`;
    case 'circuit-closed':
      return `▶ ${event.operation} is called again`;
    case 'redriven':
      return `↻ ${plural(event.tasks, 'task')} of ${event.operation} redriven`;
    case 'rejected':
      return `✗ ${event.messages} refused: ${event.reasons.join('; ')}`;
    case 'revived':
      return event.queue === 'rejected'
        ? '↻ refused message sent again'
        : `↻ dead letter of ${event.queue} sent again (${event.revivals})`;
    case 'unreadable':
      return `✗ unreadable message in the ${event.queue} queue: see the rejected queue`;
    case 'repaired':
      return `↻ ${REPAIRS[event.finding](event)}`;
    case 'foreign-message':
      return `✗ a group message for ${event.target} that no leader wrote: nothing was done`;
    case 'not-revived':
      return `✗ dead letter of ${event.queue} could not be sent again: ${event.cause}`;
    case 'not-removed':
      return `✗ dead letter of ${event.queue} could not be taken out, and comes once more: ${event.cause}`;
    case 'settled':
      return `· ${plural(event.tasks, 'task')} of ${event.target} ${event.how}`;
    case 'not-delivered':
      return `✗ callback to ${event.destination}: ${event.cause}`;
    case 'destination-down':
      return `⏸ ${event.destination} is not called for a while (${event.failures} calls in a row without an answer)`;
    case 'destination-up':
      return `▶ ${event.destination} is called again`;
    case 'result-omitted':
      return `✗ ${event.destination} refused an event of ${event.bytes} bytes, and took it without its result: ${event.cause}`;
    case 'not-given-up':
      return `✗ an event could not be given up, and comes once more: ${event.cause}`;
    case 'share-unknown':
      return `✗ the share of destinations could not be read or written: ${event.cause}`;
    case 'given-up':
      return `✗ event for ${event.destination} given up: groupage redrive --dead-letters given-up sends it again`;
    case 'untold':
      return `✗ nobody was told of ${plural(event.tasks, 'task')}: ${event.destinations.join(', ')} ${event.destinations.length === 1 ? 'is' : 'are'} not configured`;
    case 'fan-out-ended':
      return `${event.status === 'complete' ? '✓' : '✗'} ${named(event.fanOut)} ${event.status} (${event.because}): ${plural(event.total, isNumbered(event.fanOut) ? 'job' : 'item')}, ${event.failed} failed`;
    case 'fan-out-repaired':
      return `↻ ${named(event.fanOut)} had nobody to complete it`;
    case 'fan-out-untold':
      return `✗ nobody was told of ${named(event.fanOut)}: ${event.destination} is not configured`;
    case 'unknown-items':
      return `✗ ${plural(event.items, 'item')} of no fan-out that is known, such as ${event.first}: nothing was done for them`;
    case 'delivered':
    case 'put-off':
    case 'not-put-off':
    case 'blocked':
    case 'slot-freed':
    case 'held':
    case 'looked':
    case 'registered':
    case 'led':
    case 'called':
    case 'early-guard':
    case 'unknown-batch':
    case 'foreign-results':
    case 'nudge-failed':
    case 'hold-not-noted':
      return undefined;
  }
};

/** What a sweep that was cut did not look at. */
const UNSWEPT = { 'dead-letters': 'dead-letter queues', slots: 'slots', patrol: 'Targets' } as const;

/** A deferred list goes by its own name, and not by its tracker's. */
const named = (id: FanOutId): string => (isNumbered(id) ? `list ${listOf(id)}` : `fan-out ${id}`);

/** Who has a job waits for its report, and not for another call. */
const postponed = (event: FlowEvent & { readonly event: 'postponed' }): string => {
  const { batchId, open, pending = 0 } = event;
  if (pending === open) return `… ${batchId}  ${open} under way: ${inFull(event)}`;
  const others = pending > 0 ? `, ${pending} under way` : '';
  return `↻ ${batchId}  ${open - pending} again later${others}: ${inFull(event)}`;
};

const REPAIRS = {
  stranded: ({ target }) => `${target} had nobody to lead it`,
  'expired-lock': ({ target }) => `${target} was held by a leader that is gone`,
  'leaderless-batch': ({ batchId }) => `${batchId} had nobody to finish it`,
  forgotten: ({ target }) => `${target} waited for room that nobody told it of`,
  'stuck-slot': ({ batchId }) => `${batchId} was over and held its place`,
  'overdue-batch': ({ batchId }) => `${batchId} had lost its message`,
} satisfies Record<Repaired['finding'], (event: Repaired) => string>;

type Repaired = FlowEvent & { readonly event: 'repaired' };
