/** `/v1/about`: which release answers. */
import { Hono } from 'hono';
import { RELEASE } from '../domain/release.ts';
import { takesQuery } from './input.ts';

export const aboutRoutes = (): Hono => {
  const routes = new Hono();
  routes.get('/', takesQuery(), (context) => context.json({ version: RELEASE }));
  return routes;
};
