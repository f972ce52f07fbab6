/**
 * Declarations of the API's calls: method, path, parameters and body. The routes, the arguments of their handlers and
 * the answers to other methods are derived from these declarations. So is the OpenAPI document, which also contains the
 * descriptions in `responses.ts`. To add a call, edit `requests.ts`, `responses.ts` and `routes.ts` of its resource.
 */
import { type Context, Hono, type MiddlewareHandler } from 'hono';
import type * as z from 'zod/mini';
import type { Action } from '../../domain/audit/entry.ts';
import type { Right } from '../../domain/deployed/limits.ts';
import type { Problem } from '../../util/problems.ts';
import { type CallDeps, queryOf, recording } from './audited.ts';
import { expectQuery, type Of, readBody, readQuery, readText } from './input.ts';
import type { METHODS } from './methods.ts';
import { expectRight } from './rights.ts';

export interface Call {
  /** Method and path below `/v1`, in Hono's notation. */
  readonly on: `${(typeof METHODS)[number]} /${string}`;
  /** The right that a caller needs, if its rights are limited. */
  readonly right: Right;
  /** The action that the audit trail records. @default - the call is not recorded */
  readonly audit?: Action;
  /** The query parameters of the call. @default - none: any parameter is refused */
  readonly query?: z.ZodMiniObject;
  /** The body of the request. @default - the body is not read */
  readonly body?: z.ZodMiniType;
}

/** Calls by name: a verb and an object, e.g. `sendTasks`. Generated clients use these names. */
export type Calls = Readonly<Record<string, Call>>;

type NameIn<Part> = Part extends `${infer Name}{${string}` ? Name : Part;
/** The names of the parameters in a path: `name` and `node` of `/fleets/:name/nodes/:node/drain`. */
type NamesIn<Path> = Path extends `${string}/:${infer Part}/${infer Rest}`
  ? NameIn<Part> | NamesIn<`/${Rest}`>
  : Path extends `${string}/:${infer Part}`
    ? NameIn<Part>
    : never;

/** A request. A part is checked when the handler reads it, so errors are found in the order of reading. */
export interface ApiRequest<C extends Call> {
  readonly context: Context;
  /** A parameter in the path. */
  part(name: NamesIn<C['on']>): string;
  /** @throws HttpProblem */
  query(): Of<C['query']>;
  /** @throws HttpProblem */
  text(): Promise<string>;
  /** @param beside finds additional problems, such as names that are not configured. @throws HttpProblem */
  body(beside?: (body: Readonly<Record<string, unknown>>) => readonly Problem[]): Promise<Of<C['body']>>;
}

type Handler<C extends Call> = (asked: ApiRequest<C>) => Response | Promise<Response>;

/** Creates a route for each call, with the handler of the call. */
export const serve = <All extends Calls>(
  deps: CallDeps,
  calls: All,
  handlers: { readonly [Name in keyof All]: Handler<All[Name]> },
): Hono => {
  const routes = new Hono();
  for (const [name, call] of Object.entries(calls)) {
    const [method = '', path = ''] = call.on.split(' ');
    const handle = handlers[name] as Handler<Call>;
    const known = Object.keys(queryOf(call)?.def.shape ?? {});
    const checked: MiddlewareHandler = (context, next) => {
      expectRight(deps, context, call);
      expectQuery(context, known);
      return next();
    };
    routes.on(method, path, checked, recording(deps, call), (context) => handle(askedBy(context, call)));
  }
  return routes;
};

const askedBy = (context: Context, { query, body }: Call): ApiRequest<Call> => ({
  context,
  part: (name) => context.req.param(name) ?? '',
  query: () => readQuery(query, context.req.query()),
  text: () => readText(context),
  body: async (beside) => readBody(body, await readText(context), beside),
});
