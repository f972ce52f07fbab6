/** Deferred lists and jobs as the HTTP API shows them. */
import type { Millis } from '../../domain/ids.ts';
import { listOf } from '../../domain/lists/ids.ts';
import { freeAfter, isFree, type List as StoredList } from '../../domain/lists/list.ts';
import type { ClaimedJob } from '../../steps/lists/claim.ts';
import type { ListedClaim } from '../../steps/lists/claims.ts';
import type { ListProgress, ShownJob } from '../../steps/lists/jobs.ts';
import { iso } from '../shared/iso.ts';
import type { List, ListedClaimView, ListOutline } from './responses.ts';

/** @param progress the counts of jobs. They are left out on pages of lists, and after the list's rows were deleted. */
export const listView = (
  list: StoredList,
  progress: ListProgress | undefined,
): ListOutline & Partial<Omit<List, 'status'>> => {
  const { id, status, operation, userKey, callback, maxDeliveries, total, createdAt, ended } = list;
  return {
    id: listOf(id),
    status: status === 'expired' ? 'deleted' : status,
    ...(operation === undefined ? {} : { operation }),
    ...(userKey === undefined ? {} : { name: userKey }),
    ...(callback === undefined ? {} : { callback }),
    ...(maxDeliveries === undefined ? {} : { maxDeliveries }),
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

/** A claim as `GET /lists/ID/claims` shows it. */
export const claimView = ({ key, leases, holder, open }: ListedClaim, now: Millis): ListedClaimView => {
  const until = leases[0]?.until ?? 0;
  return {
    claim: key,
    ...(holder?.name === undefined ? {} : { holder: holder.name }),
    ...(holder ? { since: iso(holder.since) } : {}),
    state: now <= until ? 'running' : isFree({ until }, now) ? 'available' : 'ended',
    expiresAt: iso(until),
    availableAgainAt: iso(freeAfter(until)),
    jobs: open,
    deliveries: Math.max(...leases.map(({ deliveries }) => deliveries)),
    ranges: leases.map(({ first, count }) => ({ first, count })),
  };
};

/** A claimed job as JSON text, with its payload inserted as sent. */
export const printClaimedJob = ({ token, deliveries, payload }: ClaimedJob): string =>
  `{"token":${token},"deliveries":${deliveries},"payload":${payload}}`;

/** A job as JSON text, with its status. */
export const printShownJob = (job: ShownJob): string => {
  const { token, status, deliveries, payload, task, redrivenAt, result, error } = job;
  const named = [
    `"token":${token}`,
    `"status":"${status}"`,
    ...(deliveries === undefined ? [] : [`"deliveries":${deliveries}`]),
    `"payload":${payload}`,
    ...(task === undefined ? [] : [`"task":${JSON.stringify(task)}`]),
    ...(redrivenAt === undefined ? [] : [`"redrivenAt":"${iso(redrivenAt)}"`]),
    ...(result === undefined ? [] : [`"result":${result}`]),
    ...(error === undefined ? [] : [`"error":${JSON.stringify(error)}`]),
  ];
  return `{${named.join(',')}}`;
};
