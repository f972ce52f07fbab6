/** `/v1/audit`: the audit trail. */
import type { Hono } from 'hono';
import type { Entry } from '../../domain/audit/entry.ts';
import { serve } from '../shared/calls.ts';
import type { ApiDeps } from '../shared/deps.ts';
import { iso } from '../shared/iso.ts';
import { AUDIT_CALLS } from './requests.ts';
import type { AuditEntry } from './responses.ts';

export const auditRoutes = (deps: ApiDeps): Hono =>
  serve(deps, AUDIT_CALLS, {
    listAudit: async ({ context, query }) => {
      const { items, ...next } = await deps.audit.page({ ...query(), now: deps.machine.now() });
      return context.json({ entries: items.map(entryView), ...next });
    },
  });

const entryView = ({ at, status, ...entry }: Entry): AuditEntry => ({
  at: iso(at),
  ...entry,
  outcome: outcomeOf(status),
  ...(status === undefined ? {} : { status }),
});

const outcomeOf = (status: number | undefined): AuditEntry['outcome'] => {
  if (status === undefined) return 'unknown';
  if (status >= 500) return 'failed';
  return status >= 400 ? 'refused' : 'done';
};
