/**
 * The HTTP API. It loads each section at the first request for the section, so that a cold start loads only
 * one section. The answers are the same as those of the API in `app.ts`, which loads all sections at once.
 */
import { Hono } from 'hono';
import { answerTo, apiOf, type Sections } from './sections.ts';
import type { ApiDeps } from './shared/deps.ts';

const LOADED: Sections<() => Promise<(deps: ApiDeps) => Hono>> = {
  tasks: async () => (await import('./tasks/routes.ts')).taskRoutes,
  failures: async () => (await import('./tasks/failures.ts')).failureRoutes,
  batches: async () => (await import('./batches/routes.ts')).batchRoutes,
  targets: async () => (await import('./targets/routes.ts')).targetRoutes,
  operations: async () => (await import('./operations/routes.ts')).operationRoutes,
  limits: async () => (await import('./limits/routes.ts')).limitRoutes,
  about: async () => (await import('./about/routes.ts')).aboutRoutes,
  queues: async () => (await import('./queues/routes.ts')).queueRoutes,
  'dead-letters': async () => (await import('./queues/dead-letters.ts')).deadLetterRoutes,
  doctor: async () => (await import('./doctor/routes.ts')).doctorRoutes,
  'fan-outs': async () => (await import('./fan-outs/routes.ts')).fanOutRoutes,
  lists: async () => (await import('./lists/routes.ts')).listRoutes,
  fleets: async () => (await import('./fleets/routes.ts')).fleetRoutes,
  audit: async () => (await import('./audit/routes.ts')).auditRoutes,
  'openapi.json': async () => (await import('./about/routes.ts')).openApiRoutes,
};

type Loaded = keyof typeof LOADED;

export const lazyApi = (deps: ApiDeps): Hono => {
  const sections = new Map<Loaded | undefined, Hono>();
  const load = async (name: Loaded | undefined): Promise<Hono> =>
    apiOf(deps, name ? { [name]: await LOADED[name]() } : {});
  const app = new Hono();
  app.all('*', async ({ req, env }) => {
    const name = sectionOf(req.path);
    const section = sections.get(name) ?? (await load(name));
    sections.set(name, section);
    return section.request(req.raw, undefined, env);
  });
  app.onError(answerTo(deps));
  return app;
};

/** The section that serves a path. Undefined if no section serves the path, which is then answered with 404. */
const sectionOf = (path: string): Loaded | undefined => {
  const [, version, name = ''] = path.split('/');
  return version === 'v1' && Object.hasOwn(LOADED, name) ? (name as Loaded) : undefined;
};
