/** Walks through what the doctor looks at, page by page, so that no request runs long. */
import pLimit from 'p-limit';
import type * as z from 'zod';
import { BATCHES_EXAMINED, type FindingShape, type SkippedShape, TARGETS_EXAMINED } from '../shapes.ts';
import { type ApiClient, ApiFailure } from './api-client.ts';
import { CONCURRENCY } from './pages.ts';

/** How many were looked at. */
export interface Examined {
  readonly targets: number;
  readonly batches?: number;
  /** Whether these were all Targets. */
  readonly isAll: boolean;
}

interface Walk {
  /** Targets at the most. */
  readonly limit: number;
  /** Whether to look at their batches too. */
  readonly batches: boolean;
  readonly repair: boolean;
  /** Is told of each as it is found: a long walk may be broken off. */
  readonly onFinding: (finding: FindingShape) => void;
  /** Likewise of each that could not be looked at. */
  readonly onSkipped: (skipped: SkippedShape) => void;
}

export const examine = async (api: ApiClient, walk: Walk): Promise<Examined> => {
  const atOnce = pLimit(CONCURRENCY);
  let [targets, batches] = [0, 0];
  let cursor: string | undefined;
  do {
    const page = await ask(api, walk, 'targets', TARGETS_EXAMINED, {}, cursor);
    cursor = page.cursor;
    targets += page.targets.length;
    const ofTargets = walk.batches ? page.targets : [];
    for (const looked of await atOnce.map(ofTargets, (target) => examineBatches(api, walk, target))) batches += looked;
  } while (cursor !== undefined && targets < walk.limit);
  return { targets, ...(walk.batches ? { batches } : {}), isAll: cursor === undefined };
};

/** Where the API fails at one Target's batches, the others are looked at all the same. @returns how many there were. */
const examineBatches = async (api: ApiClient, walk: Walk, target: string): Promise<number> => {
  let batches = 0;
  let cursor: string | undefined;
  try {
    do {
      const page = await ask(api, walk, 'batches', BATCHES_EXAMINED, { target }, cursor);
      cursor = page.cursor;
      batches += page.batches;
    } while (cursor !== undefined);
  } catch (cause) {
    if (!(cause instanceof ApiFailure) || cause.status < 500) throw cause;
    walk.onSkipped({ id: target, reason: `its batches: ${cause.message}` });
  }
  return batches;
};

interface Page {
  readonly findings: readonly FindingShape[];
  readonly skipped: readonly SkippedShape[];
}

const ask = async <Shape extends Page>(
  api: ApiClient,
  { repair, onFinding, onSkipped }: Walk,
  what: 'targets' | 'batches',
  shape: z.ZodType<Shape>,
  query: Record<string, string>,
  cursor: string | undefined,
): Promise<Shape> => {
  const path = `/doctor/${what}?${new URLSearchParams({ ...query, ...(cursor === undefined ? {} : { cursor }) })}`;
  const { value } = await (repair ? api.post(path, '', shape) : api.get(path, shape));
  for (const finding of value.findings) onFinding(finding);
  for (const each of value.skipped) onSkipped(each);
  return value;
};
