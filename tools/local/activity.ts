/** The lines that `npm start` prints about batches and problems. */

import { inFull } from '../../src/domain/downstream/downstream.ts';
import type { FlowEvent } from '../../src/domain/events/events.ts';
import { type FanOutId, isNumbered } from '../../src/domain/fan-out-ids.ts';
import { listOf } from '../../src/domain/lists/ids.ts';
import { WITHOUT_RESULTS } from '../../src/domain/operations/notices.ts';
import { plural } from '../terminal.ts';

/** The line for an event; undefined for events that only matter in a log. */
export const describe = (event: FlowEvent): string | undefined => {
  switch (event.event) {
    case 'sealed':
      return `▣ ${event.target}  ${plural(event.size, 'task')} (${event.because})`;
    case 'finished':
      return event.counts.failed > 0
        ? `✗ ${event.batchId}  ${event.counts.succeeded} succeeded, ${event.counts.failed} failed`
        : `✓ ${event.batchId}  ${event.counts.succeeded} succeeded`;
    case 'merged':
      return `⋈ ${event.target}  ${plural(event.requests, 'request')}, ${plural(event.inputs, 'input')}, ${event.skipped} already done${event.called ? '' : ', no call needed'}`;
    case 'postponed':
      return postponed(event);
    case 'not-stored':
      return `✗ ${event.batchId}  could not store the results, so the downstream gets these tasks again later: ${event.cause}`;
    case 'sweep-cut':
      return `✗ the sweep ran out of time: ${event.left} ${UNSWEPT[event.part]} are left for a later sweep`;
    case 'circuit-opened':
      return `⏸ the circuit of ${event.operation} is open, so its tasks wait${event.isMisconfigured || event.isThrottled ? '' : ` (${event.failures} failures in a row)`}: ${event.reason}`;
    case 'circuit-closed':
      return `▶ the circuit of ${event.operation} is closed, so calls continue`;
    case 'redriven':
      return `↻ ${plural(event.tasks, 'task')} of ${event.operation} redriven`;
    case 'rejected':
      return `✗ messages rejected: ${event.messages} (now in the rejected queue): ${event.reasons.join('; ')}`;
    case 'rule-broken':
      return `! ${plural(event.messages, 'message')} of ${event.operation} broke the rule producers.${event.rule} (from ${event.senders.join(', ')}); with producerRules "enforce" Groupage would refuse them, or would not let them replace tasks of others`;
    case 'revived':
      return event.queue === 'rejected'
        ? '↻ rejected message sent again'
        : `↻ dead letter of the ${event.queue} queue sent again (number of resends: ${event.revivals})`;
    case 'unreadable':
      return `✗ unreadable message in the ${event.queue} queue, moved to the rejected queue`;
    case 'repaired':
      return `↻ repaired: ${REPAIRS[event.finding](event)}`;
    case 'foreign-message':
      return `✗ ignored a group message for ${event.target} that no leader sent`;
    case 'not-revived':
      return `✗ a dead letter of the ${event.queue} queue could not be handled and stays there: ${event.cause}`;
    case 'not-removed':
      return `✗ a dead letter of the ${event.queue} queue was sent again but could not be deleted, so it will be sent once more: ${event.cause}`;
    case 'discarded':
      return `· message ${event.messageId} of the ${event.queue} queue discarded`;
    case 'settled':
      return `· ${plural(event.tasks, 'task')} of ${event.target} ${event.how}`;
    case 'not-delivered':
      return `✗ an event for ${event.destination} was not delivered: ${event.cause}`;
    case 'destination-down':
      return `⏸ destination ${event.destination} is down, so its events wait (${event.failures} calls in a row without a response)`;
    case 'destination-up':
      return `▶ destination ${event.destination} is up again, so its events are sent`;
    case 'result-omitted':
      return `✗ ${event.destination} refused an event of ${event.bytes} bytes; it was sent without its result: ${event.cause}`;
    case 'not-given-up':
      return `✗ an event could not be moved to the given-up queue and is retried: ${event.cause}`;
    case 'share-unknown':
      return `✗ the state of the destinations could not be read or written, so all of them are called as if they were available: ${event.cause}`;
    case 'given-up':
      return `✗ an event for ${event.destination} was given up. Send it again: groupage redrive --dead-letters given-up`;
    case 'untold':
      return `✗ no event was sent for ${plural(event.tasks, 'task')}, because ${event.destinations.join(', ')} ${event.destinations.length === 1 ? 'is' : 'are'} not configured as a destination`;
    case 'fan-out-ended':
      return `${event.status === 'complete' ? '✓' : '✗'} ${named(event.fanOut)} ${event.status} (${event.because}): ${plural(event.total, isNumbered(event.fanOut) ? 'job' : 'item')}, ${event.failed} failed`;
    case 'fan-out-deleted':
      return `${event.was === 'complete' ? '·' : '✗'} ${named(event.fanOut)} was deleted${event.was === 'complete' ? '' : `; it was ${event.was}`}`;
    case 'fan-out-repaired':
      return `↻ repaired: ${named(event.fanOut)} was done but not completed`;
    case 'jobs-undeliverable':
      return `✗ ${plural(event.jobs, 'job')} of list ${event.list} failed: workers got each ${plural(event.deliveries, 'time')} without ending it`;
    case 'claim-broken':
      return `! a claim of list ${event.list} was ended: others can claim its ${plural(event.jobs, 'job')}`;
    case 'claim-refused':
      return `✗ a claim of list ${event.list} was refused: ${event.claims} claims are under way, the most that a list can have`;
    case 'fan-out-untold':
      return `✗ no event was sent for ${named(event.fanOut)}, because the destination ${event.destination} is not configured`;
    case 'unknown-items':
      return `✗ ignored ${plural(event.items, 'item')} of unknown fan-outs, e.g. ${event.first}`;
    case 'answers-without-results':
      return `! ${event.operation}: ${WITHOUT_RESULTS}`;
    case 'lists-counted':
    case 'rules-decided':
    case 'delivered':
    case 'put-off':
    case 'not-put-off':
    case 'not-released':
    case 'blocked':
    case 'granted':
    case 'slot-freed':
    case 'held':
    case 'looked':
    case 'fan-outs-counted':
    case 'registered':
    case 'led':
    case 'called':
    case 'early-guard':
    case 'unknown-batch':
    case 'foreign-results':
    case 'nudge-failed':
    case 'hold-not-noted':
    case 'limit-not-written':
      return undefined;
  }
};

/** What a sweep that ran out of time did not check. */
const UNSWEPT = { 'dead-letters': 'dead-letter queues', slots: 'slots', patrol: 'Targets' } as const;

/** A deferred list is shown with its own id instead of its tracker's. */
const named = (id: FanOutId): string => (isNumbered(id) ? `list ${listOf(id)}` : `fan-out ${id}`);

/** Pending tasks wait for the report of their job, not for another call. */
const postponed = (event: FlowEvent & { readonly event: 'postponed' }): string => {
  const { batchId, open, pending = 0 } = event;
  if (pending === open) return `… ${batchId}  ${open} pending: ${inFull(event)}`;
  const others = pending > 0 ? `, ${pending} pending` : '';
  return `↻ ${batchId}  ${open - pending} to be retried later${others}: ${inFull(event)}`;
};

const REPAIRS = {
  stranded: ({ target }) => `tasks of ${target} waited without a leader`,
  'expired-lock': ({ target }) => `the lease of the leader of ${target} had expired`,
  'leaderless-batch': ({ batchId }) => `${batchId} was not sealed and had no leader`,
  forgotten: ({ target }) => `${target} was missing from the slot queue`,
  'stuck-slot': ({ batchId }) => `${batchId} had ended but still occupied its slot`,
  'overdue-batch': ({ batchId }) => `the message of ${batchId} was lost`,
} satisfies Record<Repaired['finding'], (event: Repaired) => string>;

type Repaired = FlowEvent & { readonly event: 'repaired' };
