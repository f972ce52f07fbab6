/** The answer of `GET /console/about`: the release, the stack, its operations, and the limits of the page. */
import * as z from 'zod';
import { RELEASE } from '../../../src/domain/release.ts';
import { CommandFailure } from '../../failure.ts';
import type { CallApi } from './call.ts';
import type { Limits } from './interval.ts';
import type { MetricsSource } from './metrics-feed.ts';
import type { About } from './shapes.ts';

const OPERATIONS = z.object({ operations: z.array(z.object({ operation: z.string() })) });

/** Reads the names of the operations from the API. @throws CommandFailure */
export const operationsOf = async (call: CallApi): Promise<readonly string[]> => {
  const response = await call(new Request('http://api.invalid/v1/operations'));
  const found = OPERATIONS.safeParse(await response.json().catch(() => undefined));
  if (!found.success) throw new CommandFailure(`the API answered GET /v1/operations with ${response.status}`);
  return found.data.operations.map(({ operation }) => operation);
};

/** @param operations reads the names of the operations. */
export const aboutFrom =
  (
    source: About['source'],
    { readUnitsPerHourMax }: Limits,
    operations: () => Promise<readonly string[]>,
    metrics: MetricsSource,
  ) =>
  async (): Promise<About> => ({
    source,
    version: RELEASE,
    operations: await operations(),
    readUnitsPerHourMax,
    metrics: await metrics.about(),
  });
