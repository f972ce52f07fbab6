/**
 * The messages between `groupage … worker` and the processes of a user's program. Each message is one JSON object on
 * one line, in UTF-8: to the process on its standard input, from the process on its standard output. See
 * docs/how-to/workers-in-other-languages.md.
 */
import { isUtf8 } from 'node:buffer';
import * as z from 'zod/mini';
import { ERROR_CODE_RULE, isErrorCode } from '../../../src/client/claim-work.ts';
import { isObject, parseJson } from '../../../src/util/json-text.ts';

/** A message to a process. */
export type ToWorker =
  | {
      readonly type: 'job';
      readonly list: string;
      readonly token: number;
      readonly deliveries: number;
      readonly payload: object;
    }
  | {
      readonly type: 'partition';
      readonly fleet: string;
      readonly partition: string;
      readonly fence: number;
      /** The last stored checkpoint; null if there is none. */
      readonly checkpoint: string | null;
    }
  /** The checkpoint is stored. Checkpoints are answered in their order. */
  | { readonly type: 'stored' }
  /**
   * The process is to end its work. `lost`: another worker may do the same work already. Only work on partitions has a
   * reason.
   */
  | { readonly type: 'stop'; readonly reason?: 'draining' | 'lost' };

/** Answers name their job, so that an answer that comes twice does not end the next job. */
const FROM_WORKER = z.discriminatedUnion('type', [
  /** The first message: the process has started, and can work. */
  z.object({ type: z.literal('ready') }),
  /** The work goes on. */
  z.object({ type: z.literal('alive') }),
  /** The job has succeeded. */
  z.object({ type: z.literal('done'), token: z.int(), result: z.optional(z.unknown()) }),
  /** The job has failed for good. */
  z.object({
    type: z.literal('failed'),
    token: z.int(),
    error: z.object({ code: z.string().check(z.refine(isErrorCode, ERROR_CODE_RULE)), message: z.string() }),
  }),
  /** The job could not be done, and is handed out again. */
  z.object({ type: z.literal('retry'), token: z.int(), message: z.optional(z.string()) }),
  /** Stores how far the work on a partition has come. */
  z.object({ type: z.literal('checkpoint'), value: z.string() }),
]);

/** A message from a process. */
export type FromWorker = z.infer<typeof FROM_WORKER>;

const TYPES: ReadonlySet<unknown> = new Set(FROM_WORKER.def.options.map(({ shape }) => shape.type.def.values[0]));

/** A line of the standard output. `faulty`: a message with wrong fields. `other`: no message, such as a log line. */
type ReadLine =
  | { readonly is: 'message'; readonly message: FromWorker }
  | { readonly is: 'faulty'; readonly problem: string }
  | { readonly is: 'other' };

export const readLine = (line: Buffer): ReadLine => {
  const json = parseJson(line.toString().trim());
  if (!json.ok || !isObject(json.value) || !('type' in json.value) || !TYPES.has(json.value.type))
    return { is: 'other' };
  if (!isUtf8(line)) return { is: 'faulty', problem: 'it is not UTF-8' };
  const found = FROM_WORKER.safeParse(json.value);
  if (found.success) return { is: 'message', message: found.data };
  const [issue] = found.error.issues;
  return { is: 'faulty', problem: `${issue?.path.join('.')}: ${issue?.message}` };
};
