/** The whole HTTP API, with all sections loaded at once. */
import type { Hono } from 'hono';
import { aboutRoutes, openApiRoutes } from './about/routes.ts';
import { auditRoutes } from './audit/routes.ts';
import { batchRoutes } from './batches/routes.ts';
import { doctorRoutes } from './doctor/routes.ts';
import { fanOutRoutes } from './fan-outs/routes.ts';
import { fleetRoutes } from './fleets/routes.ts';
import { limitRoutes } from './limits/routes.ts';
import { listRoutes } from './lists/routes.ts';
import { operationRoutes } from './operations/routes.ts';
import { deadLetterRoutes } from './queues/dead-letters.ts';
import { queueRoutes } from './queues/routes.ts';
import { apiOf } from './sections.ts';
import type { ApiDeps } from './shared/deps.ts';
import { targetRoutes } from './targets/routes.ts';
import { failureRoutes } from './tasks/failures.ts';
import { taskRoutes } from './tasks/routes.ts';

export const api = (deps: ApiDeps): Hono =>
  apiOf(deps, {
    tasks: taskRoutes,
    failures: failureRoutes,
    batches: batchRoutes,
    targets: targetRoutes,
    operations: operationRoutes,
    limits: limitRoutes,
    about: aboutRoutes,
    queues: queueRoutes,
    'dead-letters': deadLetterRoutes,
    doctor: doctorRoutes,
    'fan-outs': fanOutRoutes,
    lists: listRoutes,
    fleets: fleetRoutes,
    audit: auditRoutes,
    'openapi.json': openApiRoutes,
  });
