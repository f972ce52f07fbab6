/** The HTTP API of a testbed, called within the process. */
import type { Hono } from 'hono';
import type { ApiDeps } from '../api/shared/deps.ts';
import { ApiUnavailable, type Ask, Busy, readApiAnswer } from '../client/ask.ts';
import { memoryAudit } from '../memory/audit.ts';
import { memoryShares } from '../memory/callbacks.ts';
import { memoryFleets } from '../memory/fleets.ts';
import { memoryBacklogs } from '../memory/queues.ts';
import { openGate } from '../virtual/gate.ts';
import type { Flow } from './flow.ts';
import type { Pace } from './pace.ts';

/** @param newId generates ids that the caller omits */
export const apiDepsOf = (flow: Flow, pace: Pace, newId: () => string): ApiDeps => {
  const deps = flow.apiDeps();
  return {
    ...deps,
    fleets: memoryFleets(),
    shares: memoryShares(flow.shares, openGate),
    audit: memoryAudit(deps.config.keepAudit),
    backlogs: memoryBacklogs(flow.queues, openGate),
    newId,
    onError: (cause) => pace.fail(cause),
  };
};

/**
 * Creates the function that calls the API. It makes only one attempt, because no request or answer can be lost here.
 * @throws ApiRefused, ApiUnavailable
 */
export const askIn =
  (app: Hono): Ask =>
  async (path, body, { method = 'POST', name } = {}) => {
    const text = typeof body === 'object' ? JSON.stringify(body) : body;
    const response = await app.request(`/v1${path}`, { method, ...(text === undefined ? {} : { body: text }) });
    try {
      return await readApiAnswer(response);
    } catch (cause) {
      throw cause instanceof Busy ? new ApiUnavailable('the testbed', 1, cause, name) : cause;
    }
  };
