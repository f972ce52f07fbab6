/** `/v1/about` and `/v1/openapi.json`: the release, and the OpenAPI document. */
import type { Hono } from 'hono';
import { RELEASE } from '../../domain/release.ts';
import { serve } from '../shared/calls.ts';
import type { ApiDeps } from '../shared/deps.ts';
import { HttpProblem } from '../shared/problem.ts';
import { ABOUT_CALLS, OPENAPI_CALLS } from './requests.ts';

export const aboutRoutes = (deps: Pick<ApiDeps, 'limits'>): Hono =>
  serve(deps, ABOUT_CALLS, { getAbout: ({ context }) => context.json({ version: RELEASE }) });

export const openApiRoutes = (deps: Pick<ApiDeps, 'openApi' | 'limits'>): Hono =>
  serve(deps, OPENAPI_CALLS, {
    getOpenApi: ({ context }) => {
      const { openApi } = deps;
      if (!openApi)
        throw new HttpProblem(404, 'this API was set up without its OpenAPI document: see contract/openapi.json');
      // In the served document, the only server is this API.
      const servers = [{ url: `${new URL(context.req.url).origin}/v1` }];
      return context.json({ ...openApi(), servers });
    },
  });
