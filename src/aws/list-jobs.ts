/** The jobs of deferred lists in DynamoDB. Jobs are stored under their addition, and are found by their numbers. */
import { type DynamoDBDocumentClient, QueryCommand, type QueryCommandInput } from '@aws-sdk/lib-dynamodb';
import type { ListId, Range } from '../domain/lists/ids.ts';
import type { Job } from '../domain/lists/list.ts';
import { endOf } from '../domain/lists/ranges.ts';
import type { Item } from '../rows/item.ts';
import { jobsKey, jobsOf, SEGMENTS, type Segment, segmentKey, segmentOf } from '../rows/list-rows.ts';
import { bytesInString } from '../util/json-text.ts';
import { inParts } from '../util/parts.ts';

/** Maximum number of bytes that are read for one answer, counted as in the answer. */
const READ_BYTES = 4_000_000;
/** Maximum number of jobs that are read at once from several additions, because each job may have 256 KB. */
const JOBS_AT_ONCE = 16;
/** Maximum number of ranges that are read at once. */
const RANGES_AT_ONCE = 8;

/** Reads the rows of one partition whose names are between two names. Stops after a page if `enough` returns true. */
export const rowsBetween = async (
  client: DynamoDBDocumentClient,
  query: Pick<QueryCommandInput, 'TableName'> & Partial<QueryCommandInput>,
  { Id, Entry }: Item,
  to: string,
  enough: (rows: readonly Item[]) => boolean = () => false,
): Promise<readonly Item[]> => {
  const rows: Item[] = [];
  let start: Item | undefined;
  do {
    const page = await client.send(
      new QueryCommand({
        ...query,
        ConsistentRead: true,
        KeyConditionExpression: 'Id = :id AND Entry BETWEEN :from AND :to',
        ExpressionAttributeValues: { ':id': Id, ':from': Entry, ':to': to },
        ExclusiveStartKey: start,
      }),
    );
    rows.push(...(page.Items ?? []));
    start = enough(rows) ? undefined : page.LastEvaluatedKey;
  } while (start);
  return rows;
};

/**
 * Reads the last row of a partition whose name is not after the given name. That row contains the job with this
 * number.
 */
const rowUpTo = async (
  client: DynamoDBDocumentClient,
  table: string,
  from: string,
  { Id, Entry }: Item,
): Promise<Item | undefined> => {
  const { Items: [row] = [] } = await client.send(
    new QueryCommand({
      TableName: table,
      ConsistentRead: true,
      KeyConditionExpression: 'Id = :id AND Entry BETWEEN :from AND :to',
      ExpressionAttributeValues: { ':id': Id, ':from': from, ':to': Entry },
      ScanIndexForward: false,
      Limit: 1,
    }),
  );
  return row;
};

/** Finds the additions that contain the jobs of a range. */
const segmentsOf = async (
  client: DynamoDBDocumentClient,
  table: string,
  id: ListId,
  range: Range,
): Promise<readonly Segment[]> => {
  const first = await rowUpTo(client, table, SEGMENTS, segmentKey(id, range.first));
  if (!first) return [];
  const segment = segmentOf(first);
  if (endOf(segment) >= endOf(range)) return [segment];
  const last = segmentKey(id, endOf(range) - 1);
  const rest = await rowsBetween(client, { TableName: table }, segmentKey(id, endOf(segment)), last.Entry as string);
  return [segment, ...rest.map(segmentOf)];
};

/** Reads the first jobs of some ranges, in their order: as many as may be read at once. */
export const readJobs = async (
  client: DynamoDBDocumentClient,
  table: string,
  id: ListId,
  ranges: readonly Range[],
): Promise<readonly Job[]> => {
  const jobs: Job[] = [];
  let bytes = 0;
  for (const some of inParts(ranges, RANGES_AT_ONCE)) {
    const most = READ_BYTES - bytes;
    const parts = await Promise.all(some.map((range) => jobsOfRange(client, table, id, range, most)));
    for (const [n, part] of parts.entries()) {
      for (const job of part) {
        bytes += bytesInString(job.payload);
        if (bytes > READ_BYTES && jobs.length > 0) return jobs;
        jobs.push(job);
      }
      if (part.length < (some[n]?.count ?? 0)) return jobs;
    }
  }
  return jobs;
};

/** Reads the first jobs of a range, up to about `limit` bytes, but at least one. */
const jobsOfRange = async (
  client: DynamoDBDocumentClient,
  table: string,
  id: ListId,
  range: Range,
  limit: number,
): Promise<readonly Job[]> => {
  const jobs: Job[] = [];
  let bytes = 0;
  let next = range.first;
  for (const some of together(await segmentsOf(client, table, id, range))) {
    const most = limit - bytes;
    const parts = await Promise.all(
      some.map((segment) => jobsIn(client, table, id, segment, overlap(range, segment), most)),
    );
    for (const job of parts.flat()) {
      bytes += bytesInString(job.payload);
      if (job.token !== next || (bytes > limit && jobs.length > 0)) return jobs;
      jobs.push(job);
      next += 1;
    }
    if (next < Math.min(endOf(range), endOf(some.at(-1) as Segment))) return jobs;
  }
  return jobs;
};

const overlap = (a: Range, b: Range): Range => {
  const first = Math.max(a.first, b.first);
  return { first, count: Math.min(endOf(a), endOf(b)) - first };
};

/**
 * Groups small additions, so that they are read together. For example, a thousand jobs that were added one by one are a
 * thousand additions.
 */
const together = (segments: readonly Segment[]): readonly (readonly Segment[])[] => {
  const all: Segment[][] = [];
  let held = 0;
  for (const segment of segments) {
    const last = held + segment.count <= JOBS_AT_ONCE ? all.at(-1) : undefined;
    held = last ? held + segment.count : segment.count;
    if (last) last.push(segment);
    else all.push([segment]);
  }
  return all;
};

const jobsIn = async (
  client: DynamoDBDocumentClient,
  table: string,
  id: ListId,
  { first, token }: Segment,
  range: Range,
  most: number,
): Promise<readonly Job[]> => {
  const [from, to] = [range.first - first, endOf(range) - first];
  const enough = (rows: readonly Item[]): boolean => rows.reduce((sum, row) => sum + bytesIn(row), 0) > most;
  // The first job of an addition is at the beginning of a row, so no search for its row is needed.
  const begin = from === 0 ? undefined : await rowUpTo(client, table, '0000', jobsKey(id, token, from));
  const next = begin ? endOfRow(begin) : from;
  const rest =
    next < to
      ? await rowsBetween(
          client,
          { TableName: table },
          jobsKey(id, token, next),
          jobsKey(id, token, to - 1).Entry as string,
          enough,
        )
      : [];
  return [...(begin ? [begin] : []), ...rest].map(jobsOf).flatMap((row) =>
    row.payloads.flatMap((payload, offset) => {
      const index = row.index + offset;
      return index >= from && index < to ? [{ token: first + index, payload }] : [];
    }),
  );
};

const endOfRow = (row: Item): number => {
  const { index, payloads } = jobsOf(row);
  return index + payloads.length;
};

const bytesIn = (row: Item): number =>
  jobsOf(row).payloads.reduce((sum, payload) => sum + Buffer.byteLength(payload), 0);
