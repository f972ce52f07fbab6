/** What is said of a route of the HTTP API. */
import * as z from 'zod';
import { list, text, whole } from '../fields.ts';
import { PROBLEM_PLACE } from '../register-message.ts';

type Method = 'get' | 'post' | 'put' | 'delete';

interface Said {
  readonly description: string;
  readonly schema: z.core.$ZodType;
  readonly example?: unknown;
}

/** What a query parameter, or a part of the path, is. */
export interface Parameter {
  readonly schema: z.core.$ZodType;
  readonly required?: true;
}

export interface Route {
  readonly method: Method;
  /** Below `/v1`, its parameters in braces. */
  readonly path: string;
  /** A verb and what it is about, e.g. `sendTasks`: names the call in generated clients. */
  readonly id: string;
  readonly summary: string;
  readonly description?: string;
  readonly query?: Readonly<Record<string, Parameter>>;
  /** Without it a body is refused, or is not read. */
  readonly body?: { readonly schema: z.core.$ZodType; readonly optional?: true; readonly example?: unknown };
  readonly answers: Readonly<Record<number, Said>>;
  /** Beside 400, 500 and 503, which each may answer, when it does. */
  readonly problems?: Readonly<Partial<Record<404 | 409 | 503, string>>>;
}

/** What the parts of paths in braces are. */
export const PATH_PARTS: Readonly<Record<string, string>> = {
  id: 'Its id. That of a batch has to be URL-encoded.',
  name: 'Its name.',
  queue: 'The queue whose dead letters they are, or `rejected`.',
  claim: 'The `claimId` that the claim was answered with.',
  node: "A node's key (`id@epoch`, one life of it), or its id where exactly one life of it has not ended.",
  partition: 'The id of the partition.',
};

export const PROBLEM = z
  .object({
    type: z.literal('about:blank'),
    title: text('What the status says, in words.'),
    status: whole('The status of the answer.', 400, 599),
    detail: text('What is wrong and, where it can be said, what to do.'),
    errors: list(PROBLEM_PLACE, 'With 400: everything that is wrong with the request, up to a thousand.').optional(),
    errorsInAll: whole('How many they are, where they are more than are named.').optional(),
  })
  .meta({ id: 'Problem', description: 'A problem (RFC 9457).' });

export const SKIPPED = z
  .object({ id: text('Of what nothing was done with.'), reason: text('Why.') })
  .meta({ id: 'Skipped', description: 'What was left as it is.' });

/** The `limit` and `cursor` of lists. */
export const paging = (usual: number, most = 100): Readonly<Record<'limit' | 'cursor', Parameter>> => ({
  limit: {
    schema: whole('So many at the most, in plain digits.', 1, most).meta({ default: usual }),
  },
  cursor: { schema: text('The `cursor` of the page before, for the next one.') },
});

export const CURSOR = text('Pass it on for the next page; missing on the last one.').optional();

/** A Target, as it is asked for. */
export const TARGET_ASKED = text('A Target, such as `distribute-parcels/carrier=DHL/depot=MUC`.');

export const NO_BODY = z.strictObject({}).meta({ id: 'NoBody', description: 'No body, or an empty object.' });
