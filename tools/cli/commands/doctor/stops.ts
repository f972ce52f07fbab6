/**
 * The doctor's texts about stopped work: circuits of operations and destinations, pauses, and rejected messages. Each
 * text names the cause, its effect on the tasks, and the next step.
 */
import type { PausedTarget as PausedTargetShape, RemovedOperation } from '../../../../src/api/doctor/responses.ts';
import type { Pause } from '../../../../src/api/operations/responses.ts';
import { WITHOUT_RESULTS } from '../../../../src/domain/operations/notices.ts';
import { ago, ahead } from '../../../terminal.ts';
import { workLeft } from '../../../work-left.ts';
import { DESTINATIONS_EXAMINED, LETTER_MESSAGES, type OperationShape, REMOVED_EXAMINED } from '../../shared/answers.ts';
import { type ApiClient, ApiFailure } from '../../shared/api-client.ts';
import { operationsOf } from '../../shared/pages.ts';
import { underWayTexts } from '../../shared/under-way.ts';
import type { SettingsLook } from './settings.ts';

export type PausedTarget = PausedTargetShape;

export interface Stops {
  readonly findings: readonly string[];
  /** Behaviour that may be intended, so the operator must decide. A notice is no finding. */
  readonly notices: readonly string[];
  readonly unseen: SettingsLook['unseen'];
}

export const stopsOf = async (api: ApiClient): Promise<Stops> => {
  const [operations, removed, destinations] = [
    await read('operations', ofOperations(api)),
    await read('removed operations', ifKnown(ofRemoved(api))),
    await read('destinations', ifKnown(ofDestinations(api))),
  ];
  return {
    findings: [...operations.findings, ...removed.findings, ...destinations.findings],
    notices: [...operations.notices, ...destinations.notices],
    unseen: [...operations.unseen, ...removed.unseen, ...destinations.unseen],
  };
};

type Found = Omit<Stops, 'unseen'>;

/** If the API fails at one part, the others are still checked. */
const read = async (what: string, work: Promise<Found>): Promise<Stops> => {
  try {
    return { ...(await work), unseen: [] };
  } catch (cause) {
    if (!(cause instanceof ApiFailure) || cause.status < 500) throw cause;
    return { findings: [], notices: [], unseen: [{ what, reason: cause.message }] };
  }
};

/** The API of an earlier release does not know the call, so nothing is found. */
const ifKnown = (work: Promise<Found>): Promise<Found> =>
  work.catch((cause: unknown) => {
    if (cause instanceof ApiFailure && cause.status === 404) return { findings: [], notices: [] };
    throw cause;
  });

const ofOperations = async (api: ApiClient): Promise<Found> => {
  const { operations } = (await operationsOf(api)).value;
  return {
    findings: operations.flatMap(circuitText),
    notices: [
      ...operations.flatMap(pauseNotice),
      ...operations.flatMap(retriedNotice),
      ...operations
        .filter(({ answersWithoutResults }) => answersWithoutResults)
        .map(({ operation }) => `${operation}: ${WITHOUT_RESULTS}`),
    ],
  };
};

const because = (reason: string | undefined): string => (reason === undefined ? '' : `: ${reason}`);

/** An open or half-open circuit. */
const circuitText = ({ operation, circuit, failures, lastFailure, paused }: OperationShape): readonly string[] => {
  if (circuit === 'open')
    return [
      `${operation}: its circuit is open after ${failures} failed attempts in a row${because(paused?.reason ?? lastFailure)}. No calls are made, and its tasks wait; nothing is lost → fix the downstream. A batch tries it again by itself ${trialAt(paused)}; at once: groupage resume ${operation}`,
    ];
  if (circuit === 'half-open')
    return [
      `${operation}: its circuit is half-open after ${failures} failed attempts in a row${because(lastFailure)}. Its tasks wait for the next attempt, which closes the circuit or opens it again → if it opens again, fix the downstream`,
    ];
  return [];
};

const trialAt = (paused: Pause | undefined): string => {
  const left = paused?.until === undefined ? undefined : ahead(paused.until);
  return left === undefined ? 'when the next one is due' : `in ${left}`;
};

/** Age in seconds from which a task is late, if the API of an early release does not send it. */
const LATE = 300;

/** Tasks that are called again and again, and are late. A throttled downstream may be at work, so it is a notice. */
const retriedNotice = ({ operation, underWay, lateAfterSeconds = LATE }: OperationShape): readonly string[] =>
  underWay && underWay.retried > 0 && Date.now() - Date.parse(underWay.oldestAt) > lateAfterSeconds * 1_000
    ? [
        `${operation}: ${underWayTexts(underWay).join('; ')}. Groupage calls again by itself → if it lasts, fix the downstream. Which: groupage batches --under-way --operation ${operation}`,
      ]
    : [];

const pauseNotice = ({ operation, paused }: OperationShape): readonly string[] =>
  paused === undefined || paused.by === 'circuit'
    ? []
    : [`${operation}: ${pausedByUser(paused)} → groupage resume ${operation}`];

export const pausedTarget = ({ target, paused }: PausedTarget): string =>
  `${target}: ${pausedByUser(paused)} → groupage resume --target ${JSON.stringify(target)}`;

const pausedByUser = ({ since, reason }: Pause): string =>
  `a user paused it ${ago(since)} ago${reason === undefined ? ', without a reason' : `: ${reason}`}. Its tasks wait; nothing is lost. Who: groupage audit`;

/** Operations that are no longer configured and have work left. Their Targets may be on several pages. */
const ofRemoved = async (api: ApiClient): Promise<Found> => {
  const removed = new Map<string, RemovedOperation>();
  let cursor: string | undefined;
  do {
    const path = `/doctor/removed${cursor === undefined ? '' : `?${new URLSearchParams({ cursor })}`}`;
    const { value } = await api.get(path, REMOVED_EXAMINED);
    for (const each of value.operations) removed.set(each.operation, together(removed.get(each.operation), each));
    cursor = value.cursor;
  } while (cursor !== undefined);
  return { findings: [...removed.values()].map(removedText), notices: [] };
};

/** Adds the waiting tasks of another page. Each page has all batches under way. */
const together = (a: RemovedOperation | undefined, b: RemovedOperation): RemovedOperation => {
  const oldest = [a?.oldestAt, b.oldestAt].filter((time) => time !== undefined).toSorted();
  return {
    ...b,
    targets: (a?.targets ?? 0) + b.targets,
    waiting: (a?.waiting ?? 0) + b.waiting,
    ...((a?.waitingIsAtLeast ?? b.waitingIsAtLeast) ? { waitingIsAtLeast: true } : {}),
    ...(oldest[0] === undefined ? {} : { oldestAt: oldest[0] }),
  };
};

const removedText = (removed: RemovedOperation): string => {
  const { operation, oldestAt } = removed;
  const work = workLeft(removed, oldestAt === undefined ? '' : `, the oldest for ${ago(oldestAt)}`);
  return `${operation}: it is not configured, but has work left: ${work}. These tasks wait; nothing is lost → configure it again: they continue. To drop waiting tasks instead: configure it again, groupage pause ${operation}, groupage cancel ID for each`;
};

/** Only destinations whose circuit is open are findings. */
const ofDestinations = async (api: ApiClient): Promise<Found> => {
  const { destinations } = (await api.get('/doctor/destinations', DESTINATIONS_EXAMINED)).value;
  return { findings: destinations.flatMap(destinationText), notices: [] };
};

const destinationText = ({
  destination,
  phase,
  failures,
  openUntil,
}: {
  readonly destination: string;
  readonly phase: string;
  readonly failures: number;
  readonly openUntil?: string | undefined;
}): readonly string[] => {
  if (phase !== 'down' && phase !== 'probing') return [];
  const left = openUntil === undefined ? undefined : ahead(openUntil);
  const next = left === undefined ? 'The next event tests it' : `An event tests it in ${left}`;
  return [
    `destination ${destination}: its circuit is open, because ${failures} calls in a row got no usable answer. Tasks are not affected; their events wait, for up to three days → fix the destination. ${next}, by itself. The causes: log lines not-delivered of the callback function`,
  ];
};

/** Why the oldest message of the rejected queue was rejected. Undefined if it cannot be read now. */
export const firstReasonOf = async (api: ApiClient): Promise<string | undefined> => {
  try {
    const { messages } = (await api.get('/dead-letters/rejected/messages?limit=1', LETTER_MESSAGES)).value;
    const [first] = messages[0]?.reasons ?? [];
    return first && `${first.path} ${first.reason}`.trim();
  } catch (cause) {
    // Another reader may hold the message, or the API is of an earlier release. The count is reported anyway.
    if (cause instanceof ApiFailure) return undefined;
    throw cause;
  }
};
