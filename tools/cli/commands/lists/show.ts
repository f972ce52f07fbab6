/** Output of `groupage lists show` and `list`: lists as text, their jobs as JSON lines. */

import type { ListedClaimView, ListOutline } from '../../../../src/api/lists/responses.ts';
import { listPath } from '../../../../src/client/list-calls.ts';
import { rawElements, rawMembers } from '../../../../src/util/json-text.ts';
import { lowerBound } from '../../../lower-bounds.ts';
import { ago, ahead, fields, green, moment, printable, printJson, red, table } from '../../../terminal.ts';
import { JOBS, type ListShape } from '../../shared/answers.ts';
import type { ApiClient } from '../../shared/api-client.ts';
import type { CommonOptions } from '../../shared/connect.ts';

const BAR = 30;
const number = (count: number): string => count.toLocaleString('en');
const coloured = ({ status, total, done, failed }: ListShape): string => {
  if (status === 'open' && total > 0 && done === total) return 'open (all jobs are done; seal the list to complete it)';
  if (status === 'complete') return failed > 0 ? red('complete, with failed jobs') : green(status);
  return status === 'cancelled' ? red(status) : status;
};

/** A bar of jobs that are done, jobs that are claimed or started, and jobs that wait. */
export const bar = ({ total, done = 0, leased, started = 0 }: ListShape): string => {
  const cells = (count: number): number => (total === 0 ? 0 : Math.floor((count / total) * BAR));
  const [full, half] = [cells(done), cells(done + leased + started)];
  return `${'█'.repeat(full)}${'▒'.repeat(half - full)}${'░'.repeat(BAR - half)}`;
};

/** The API does not count the done jobs of a very large list. */
const howFar = (list: ListShape): string =>
  list.done === undefined
    ? `${number(list.total)} (too many to count how many are done)`
    : `${bar(list)}  ${number(list.done)} of ${number(list.total)} done`;

/** The command that shows who has the jobs, or which jobs have failed. */
const nextStep = ({ id, leased, failed }: ListShape): string | undefined => {
  if (leased > 0) return `who has claimed jobs: groupage lists claims ${id}`;
  return failed > 0 ? `the failed jobs: groupage lists show ${id} --jobs --status failed` : undefined;
};

export const describe = (list: ListShape): string => {
  const { id, operation, name, available, leased, started, succeeded, failed, maxDeliveries, createdAt, endedAt } =
    list;
  const failures = lowerBound(failed, list.countsAreAtLeast);
  return fields([
    ['id', printable(id)],
    ['status', coloured(list)],
    ['jobs', howFar(list)],
    ['available', number(available)],
    ['claimed', number(leased)],
    ['started', started === undefined ? undefined : number(started)],
    ['succeeded', succeeded === undefined ? undefined : number(succeeded)],
    ['failed', failed > 0 ? red(failures) : failures],
    ['max deliveries', maxDeliveries?.toString()],
    ['name', name && printable(name)],
    ['operation', operation && printable(operation)],
    ['created', moment(createdAt)],
    ['ended', endedAt && moment(endedAt)],
    ['next', nextStep(list)],
  ]);
};

export const listsTable = (lists: readonly ListOutline[]): string =>
  table(
    ['LIST', 'STATUS', 'JOBS', 'OPERATION', 'AGE', 'NAME'],
    lists.map(({ id, status, total, operation, createdAt, name }) => [
      id,
      status,
      total,
      operation ?? '',
      ago(createdAt),
      name ?? '',
    ]),
  );

/** What a state of a claim means for its jobs. */
const IN_WORDS: Readonly<Record<string, string>> = {
  running: 'reserved',
  ended: 'lease ended; others wait',
  available: 'others can claim',
};

const inTime = (iso: string): string => {
  const left = ahead(iso);
  return left === undefined ? `${ago(iso)} ago` : `in ${left}`;
};

export const claimsTable = (claims: readonly ListedClaimView[]): string =>
  table(
    ['CLAIM', 'HOLDER', 'CLAIMED', 'JOBS LEFT', 'FROM JOB', 'DELIVERY', 'STATE', 'LEASE ENDS'],
    claims.map(({ claim, holder, since, jobs, ranges, deliveries, state, expiresAt }) => [
      claim,
      holder ?? '',
      since === undefined ? '' : ago(since),
      jobs,
      ranges[0]?.first ?? '',
      deliveries,
      IN_WORDS[state] ?? state,
      inTime(expiresAt),
    ]),
  );

/** The jobs of a response as raw text, one job per line. They are not parsed, because parsing could change numbers. */
export const jobLines = (answer: string): readonly string[] =>
  // A JSON string contains no raw line break, so each line break is white space.
  rawElements(rawMembers(answer).get('jobs') ?? '[]').map((job) => job.replaceAll(/[\r\n]+/g, ' '));

/** @param status only jobs with this status */
export const printJobs = async (
  api: ApiClient,
  id: string,
  { json, status }: CommonOptions & { readonly status?: string },
): Promise<void> => {
  const all: string[] = [];
  let from: number | undefined = 0;
  do {
    const { text, value }: { text: string; value: { next?: number | undefined } } = await api.get(
      `${listPath(id)}/jobs?${new URLSearchParams({ from: String(from), limit: '500', ...(status ? { status } : {}) })}`,
      JOBS,
    );
    if (json) all.push(...jobLines(text));
    else for (const line of jobLines(text)) console.log(printJson(line));
    from = value.next;
  } while (from !== undefined);
  if (json) console.log(printJson(`{"jobs":[${all.join(',')}]}`));
};
