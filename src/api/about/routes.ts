/** `/v1/about` and `/v1/openapi.json`: which release answers, and what this API is, for tools. */
import type { Hono } from 'hono';
import { RELEASE } from '../../domain/release.ts';
import { serve } from '../shared/calls.ts';
import type { ApiDeps } from '../shared/deps.ts';
import { HttpProblem } from '../shared/problem.ts';
import { ABOUT_CALLS, OPENAPI_CALLS } from './requests.ts';

export const aboutRoutes = (): Hono =>
  serve(ABOUT_CALLS, { getAbout: ({ context }) => context.json({ version: RELEASE }) });

export const openApiRoutes = ({ openApi }: Pick<ApiDeps, 'openApi'>): Hono =>
  serve(OPENAPI_CALLS, {
    getOpenApi: ({ context }) => {
      if (!openApi)
        throw new HttpProblem(404, 'this API was set up without its description: see contract/openapi.json');
      // For this one alone: whoever reads it here means the API that was asked.
      const servers = [{ url: `${new URL(context.req.url).origin}/v1` }];
      return context.json({ ...openApi(), servers });
    },
  });
