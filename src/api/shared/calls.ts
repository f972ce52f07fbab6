/**
 * The calls of the API: where each is, and what it takes. From that follow the routes and what their handlers are given,
 * what another method is answered and, with what `described.ts` adds, the OpenAPI document. Another call is in the `requests.ts`,
 * `responses.ts` and `routes.ts` of its resource.
 */
import { type Context, Hono } from 'hono';
import type * as z from 'zod/mini';
import type { Problem } from '../../util/problems.ts';
import { expectQuery, type Of, readBody, readQuery, readText } from './input.ts';

export const METHODS = ['GET', 'POST', 'PUT', 'DELETE'] as const;

export interface Call {
  /** Where it is, below `/v1`, as Hono writes paths. */
  readonly on: `${(typeof METHODS)[number]} /${string}`;
  /** Its parameters. @default - none: any is refused */
  readonly query?: z.ZodMiniObject;
  /** @default - its body is not read */
  readonly body?: z.ZodMiniType;
}

/** By names of a verb and what it is about, e.g. `sendTasks`: so the calls are named in generated clients. */
export type Calls = Readonly<Record<string, Call>>;

type NameIn<Part> = Part extends `${infer Name}{${string}` ? Name : Part;
/** The names in a path: `name` and `node` of `/fleets/:name/nodes/:node/drain`. */
type NamesIn<Path> = Path extends `${string}/:${infer Part}/${infer Rest}`
  ? NameIn<Part> | NamesIn<`/${Rest}`>
  : Path extends `${string}/:${infer Part}`
    ? NameIn<Part>
    : never;

/** A request, of which each part is read when its handler asks for it: what is asked for first is refused first. */
export interface ApiRequest<C extends Call> {
  readonly context: Context;
  /** A part of the path. */
  part(name: NamesIn<C['on']>): string;
  /** @throws HttpProblem */
  query(): Of<C['query']>;
  /** @throws HttpProblem */
  text(): Promise<string>;
  /** @param beside what else is wrong with it: what the configuration alone can tell, say. @throws HttpProblem */
  body(beside?: (body: Readonly<Record<string, unknown>>) => readonly Problem[]): Promise<Of<C['body']>>;
}

type Handler<C extends Call> = (asked: ApiRequest<C>) => Response | Promise<Response>;

/** The routes of calls: each has its handler. */
export const serve = <All extends Calls>(
  calls: All,
  handlers: { readonly [Name in keyof All]: Handler<All[Name]> },
): Hono => {
  const routes = new Hono();
  for (const [name, call] of Object.entries(calls)) {
    const [method = '', path = ''] = call.on.split(' ');
    const handle = handlers[name] as Handler<Call>;
    const known = Object.keys(call.query?.def.shape ?? {});
    routes.on(method, path, (context) => {
      expectQuery(context, known);
      return handle(askedBy(context, call));
    });
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
