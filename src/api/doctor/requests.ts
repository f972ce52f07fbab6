/** Requests of `/doctor`: the routes, and the schemas of their parameters and bodies. */
import * as z from 'zod/mini';
import type { Calls } from '../shared/calls.ts';
import { cursor, NO_BODY, paging, target } from '../shared/fields.ts';
import { operation } from '../targets/requests.ts';

/** Default page size. Checking a Target or a batch takes one or two reads. */
const PAGE = 100;

const OF_TARGETS = z.object({ operation, ...paging(PAGE) });
const OF_BATCHES = z.object({ target: target(), ...paging(PAGE) });

export const DOCTOR_CALLS = {
  examineDestinations: { on: 'GET /doctor/destinations', right: 'read' },
  examineRemoved: { on: 'GET /doctor/removed', right: 'read', query: z.object({ cursor: cursor() }) },
  examineTargets: { on: 'GET /doctor/targets', right: 'read', query: OF_TARGETS, body: NO_BODY },
  repairTargets: { on: 'POST /doctor/targets', right: 'operate', audit: 'repair', query: OF_TARGETS, body: NO_BODY },
  examineBatches: { on: 'GET /doctor/batches', right: 'read', query: OF_BATCHES, body: NO_BODY },
  repairBatches: { on: 'POST /doctor/batches', right: 'operate', audit: 'repair', query: OF_BATCHES, body: NO_BODY },
} satisfies Calls;
