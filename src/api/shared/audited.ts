/**
 * Records calls in the audit trail. The entry is stored before the call does anything, so no action lacks one. Its
 * outcome is stored afterwards.
 */
import type { Context, MiddlewareHandler } from 'hono';
import * as z from 'zod/mini';
import { type Actor, bounded, idsInWords, REASON_MAX, type Subject } from '../../domain/audit/entry.ts';
import { isObject, parseJson } from '../../util/json-text.ts';
import { callerOf } from './caller.ts';
import type { Call } from './calls.ts';
import type { ApiDeps } from './deps.ts';
import { text } from './fields.ts';
import { readQuery, readText } from './input.ts';
import { HttpProblem } from './problem.ts';

/** The parts of the API that a call needs beside its own. Without `audit` nothing is recorded. */
export type CallDeps = Pick<ApiDeps, 'limits'> & Partial<Pick<ApiDeps, 'audit' | 'machine' | 'onError'>>;

/** No control characters, and so no line breaks. Not `\p{Cc}`, which many tools for JSON Schema do not know. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it excludes them.
const PRINTABLE = /^[^\x00-\x1f\x7f-\x9f]+$/;

const REASON = z.optional(
  text('Why, for the audit trail.', `must be well-formed text of 1 to ${REASON_MAX} characters, without line breaks`, {
    minLength: 1,
    maxLength: REASON_MAX,
    pattern: PRINTABLE,
  }),
);

type Queried = Pick<Call, 'query' | 'body' | 'audit'>;

/** The query parameters of a call, and `reason` for a recorded one, unless the body has a reason. */
export const queryOf = ({ query, body, audit }: Queried): z.ZodMiniObject | undefined =>
  audit === undefined || hasReason(body) ? query : z.extend(query ?? z.object({}), { reason: REASON });

const hasReason = (body: Call['body']): boolean =>
  body !== undefined && 'shape' in body.def && isObject(body.def.shape) && 'reason' in body.def.shape;

/**
 * Records a call if it is declared so, unless it is a dry run. The handler checks the body; a request that it refuses
 * is recorded as refused.
 *
 * @throws HttpProblem 400 if the reason is invalid, 503 if the entry could not be stored
 */
export const recording = (deps: CallDeps, call: Call): MiddlewareHandler => {
  const { audit, machine, onError } = deps;
  const { audit: action } = call;
  if (action === undefined || !audit || !machine) return (_, next) => next();
  return async (context, next) => {
    const { reason: ofQuery, ...query } = context.req.query();
    if (ofQuery !== undefined) readQuery(z.object({ reason: REASON }), { reason: ofQuery });
    const json = parseJson(await readText(context));
    const body = json.ok && isObject(json.value) ? json.value : {};
    if (body.dryRun === true) return next();
    const key = { at: machine.now(), id: machine.token() };
    const reason = ofQuery ?? (hasReason(call.body) ? textIn(body.reason)?.slice(0, REASON_MAX) : undefined);
    try {
      await audit.begin({
        ...key,
        action,
        subject: subjectOf(call, context, { ...query, ...body }),
        actor: actorOf(context),
        ...(reason === undefined ? {} : { reason }),
      });
    } catch (cause) {
      onError?.(cause);
      throw new HttpProblem(503, NOT_RECORDED);
    }
    await next();
    try {
      await audit.end(key, context.res.status);
    } catch (cause) {
      // The action has happened. Its entry says that the outcome is unknown.
      onError?.(cause);
    }
  };
};

const NOT_RECORDED =
  'the audit trail could not be written, so nothing was done. Send the request again in a moment; if that does not help, see the log of the API function and the table Audit';

const textIn = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value.toWellFormed() : undefined;

const actorOf = (context: Context): Actor => {
  const { principal: _, ...actor } = callerOf(context);
  return actor;
};

/** What the id after a part of a path names. */
const NAMED: Readonly<Record<string, keyof Subject>> = {
  operations: 'operation',
  tasks: 'task',
  batches: 'batch',
  'dead-letters': 'queue',
  lists: 'list',
  claims: 'claim',
  'fan-outs': 'fanOut',
  fleets: 'fleet',
  nodes: 'node',
  partitions: 'partition',
};

/** @param fields of query and body, unchecked */
const subjectOf = ({ on }: Call, { req }: Context, fields: Readonly<Record<string, unknown>>): Subject => {
  const parts = [...on.matchAll(/([\w-]+)\/:(\w+)/g)].flatMap(([, before = '', name = '']) => {
    const named = NAMED[before];
    return named ? [[named, req.param(name) ?? ''] as const] : [];
  });
  const { operation, target, ids, to, draining } = fields;
  const named: Subject = Object.fromEntries(parts);
  const listed = Array.isArray(ids) ? idsInWords(ids.filter((id) => typeof id === 'string')) : undefined;
  const found = {
    ...named,
    operation: named.operation ?? textIn(operation),
    target: textIn(target),
    [named.queue === undefined ? 'tasks' : 'messages']: listed,
    to: to === null ? 'any node' : textIn(to),
    draining: typeof draining === 'boolean' ? String(draining) : undefined,
  };
  return bounded(found);
};
