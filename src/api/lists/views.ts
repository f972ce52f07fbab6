/** Deferred lists and jobs as the HTTP API shows them. */
import { listOf } from '../../domain/lists/ids.ts';
import type { Job, List as StoredList } from '../../domain/lists/list.ts';
import type { ListProgress, ShownJob } from '../../steps/lists/jobs.ts';
import { iso } from '../shared/iso.ts';
import type { List, ListOutline } from './responses.ts';

/** @param progress the counts of jobs. They are left out on pages of lists, and after the list's rows were deleted. */
export const listView = (
  list: StoredList,
  progress: ListProgress | undefined,
): ListOutline & Partial<Omit<List, 'status'>> => {
  const { id, status, operation, userKey, callback, total, createdAt, ended } = list;
  return {
    id: listOf(id),
    status: status === 'expired' ? 'deleted' : status,
    ...(operation === undefined ? {} : { operation }),
    ...(userKey === undefined ? {} : { name: userKey }),
    ...(callback === undefined ? {} : { callback }),
    total,
    ...(progress ? countsView(progress) : {}),
    createdAt: iso(createdAt),
    ...(ended ? { endedAt: iso(ended.at) } : {}),
  };
};

const countsView = ({
  available,
  leased,
  started,
  succeeded,
  failed,
}: ListProgress): Partial<Omit<List, 'status'>> => ({
  available,
  leased,
  ...(started === undefined || succeeded === undefined
    ? { failed, countsAreAtLeast: true }
    : { started, done: succeeded + failed, succeeded, failed }),
});

/** A job as JSON text, with its payload inserted as sent. */
export const printJob = ({ token, payload }: Job): string => `{"token":${token},"payload":${payload}}`;

/** A job as JSON text, with its status. */
export const printShownJob = ({ token, status, payload, task, result, error }: ShownJob): string => {
  const named = [
    `"token":${token}`,
    `"status":"${status}"`,
    `"payload":${payload}`,
    ...(task === undefined ? [] : [`"task":${JSON.stringify(task)}`]),
    ...(result === undefined ? [] : [`"result":${result}`]),
    ...(error === undefined ? [] : [`"error":${JSON.stringify(error)}`]),
  ];
  return `{${named.join(',')}}`;
};
