/** `/v1/openapi.json`: what this API is, for tools. */
import { Hono } from 'hono';
import type { ApiDeps } from './deps.ts';
import { takesQuery } from './input.ts';
import { HttpProblem } from './problem.ts';

export const openApiRoutes = ({ openApi }: Pick<ApiDeps, 'openApi'>): Hono => {
  const routes = new Hono();

  routes.get('/', takesQuery(), (context) => {
    if (!openApi) throw new HttpProblem(404, 'this API was set up without its description: see contract/openapi.json');
    // For this one alone: whoever reads it here means the API that he asked.
    const servers = [{ url: `${new URL(context.req.url).origin}/v1` }];
    return context.json({ ...openApi(), servers });
  });

  return routes;
};
