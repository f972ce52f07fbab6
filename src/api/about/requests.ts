/** Requests of `/about` and `/openapi.json`: the routes, and the schemas of their parameters and bodies. */
import type { Calls } from '../shared/calls.ts';

export const ABOUT_CALLS = { getAbout: { on: 'GET /about', right: 'read' } } satisfies Calls;
export const OPENAPI_CALLS = { getOpenApi: { on: 'GET /openapi.json', right: 'read' } } satisfies Calls;
