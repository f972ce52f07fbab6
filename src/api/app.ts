/** All of the HTTP API (design, section 10), loaded at once. */
import type { Hono } from 'hono';
import { aboutRoutes } from './about.ts';
import { batchRoutes } from './batches.ts';
import { deadLetterRoutes } from './dead-letters.ts';
import type { ApiDeps } from './deps.ts';
import { doctorRoutes } from './doctor.ts';
import { failureRoutes } from './failures.ts';
import { fanOutRoutes } from './fan-outs.ts';
import { fleetRoutes } from './fleets.ts';
import { listRoutes } from './lists.ts';
import { openApiRoutes } from './openapi.ts';
import { operationRoutes } from './operations.ts';
import { queueRoutes } from './queues.ts';
import { apiOf } from './sections.ts';
import { targetRoutes } from './targets.ts';
import { taskRoutes } from './tasks.ts';

export const api = (deps: ApiDeps): Hono =>
  apiOf(deps, {
    tasks: taskRoutes,
    failures: failureRoutes,
    batches: batchRoutes,
    targets: targetRoutes,
    operations: operationRoutes,
    about: aboutRoutes,
    queues: queueRoutes,
    'dead-letters': deadLetterRoutes,
    doctor: doctorRoutes,
    'fan-outs': fanOutRoutes,
    lists: listRoutes,
    fleets: fleetRoutes,
    'openapi.json': openApiRoutes,
  });
