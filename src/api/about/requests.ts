/** `/about` and `/openapi.json`: what the API says of itself. */
import type { Calls } from '../shared/calls.ts';

export const ABOUT_CALLS = { getAbout: { on: 'GET /about' } } satisfies Calls;
export const OPENAPI_CALLS = { getOpenApi: { on: 'GET /openapi.json' } } satisfies Calls;
