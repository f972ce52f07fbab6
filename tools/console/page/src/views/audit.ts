/** The audit trail: who did what, from where, when and why, the newest entry first. */
import { html, nothing, type TemplateResult } from 'lit';
import type { AuditEntry, AuditPage } from '../../../../../src/api/audit/responses.ts';
import { PATHS } from '../base/api.ts';
import { href, type Route } from '../base/router.ts';
import type { Page, Screen } from '../base/screen.ts';
import { heading } from '../components/heading.ts';
import { badge, breakable, empty, link, refused } from '../components/parts.ts';
import { type Column, pager, table } from '../components/table.ts';
import { auditState } from '../model/words.ts';

const COLUMNS: readonly Column<AuditEntry>[] = [
  { name: 'When', cell: ({ at }) => html`<time-ago at=${at}></time-ago>` },
  { name: 'Action', cell: ({ action }) => action },
  { name: 'Of', cell: ({ subject }) => subjectCell(subject) },
  { name: 'By', cell: ({ actor }) => actorCell(actor) },
  { name: 'Reason', cell: ({ reason }) => (reason === undefined ? '–' : breakable(reason)) },
  { name: 'Outcome', cell: ({ outcome }) => badge(auditState(outcome)) },
  { name: 'From', minor: true, cell: ({ actor }) => actor.from ?? '–' },
];

export const auditScreen = (page: Page, cursor: string | undefined): Screen => {
  const path = PATHS.audit(cursor);
  return {
    title: 'Audit',
    paths: () => [path],
    render: () => {
      const found = page.live.body<AuditPage>(path);
      return html`
        ${heading({ name: 'Audit' })}
        <p class="lead">What people did through the API, and why. Services that only do their work are not recorded.</p>
        ${refused(page, path) ?? table({ name: 'Audit', columns: COLUMNS, rows: found?.entries, empty: none })}
        ${pager(cursor === undefined ? undefined : href({ view: 'audit' }), found?.cursor === undefined ? undefined : href({ view: 'audit', cursor: found.cursor }), 'entries')}`;
    },
  };
};

const none = empty(
  'Nothing was recorded yet',
  html`Pauses, resumes, redrives, cancellations, flushes, repairs and deletions appear here.`,
);

/** The view of each thing that has one. */
const VIEWS: Readonly<Record<string, (id: string) => Route>> = {
  operation: (name) => ({ view: 'operation', name }),
  target: (target) => ({ view: 'target', target }),
  task: (id) => ({ view: 'task', id }),
  batch: (id) => ({ view: 'batch', id }),
  list: (id) => ({ view: 'list', id }),
  fanOut: (id) => ({ view: 'fan-out', id }),
  fleet: (id) => ({ view: 'fleet', id }),
};

const subjectCell = (subject: AuditEntry['subject']): TemplateResult[] | string => {
  const parts = Object.entries(subject);
  if (parts.length === 0) return 'all Targets';
  return parts.map(([name, id = ''], index) => {
    const route = VIEWS[name]?.(id);
    return html`<span class="subject">${index > 0 ? ', ' : nothing}<span class="muted">${name}</span> ${route ? link(route, id) : breakable(id)}</span>`;
  });
};

/** The name, and the session of a role, which often names a person. */
const actorCell = ({ id, name = id, arn = '' }: AuditEntry['actor']): TemplateResult => {
  const [, session] = /:assumed-role\/[^/]+\/(.+)$/.exec(arn) ?? [];
  return html`<span title=${arn === '' ? id : arn}>${breakable(name)}${session === undefined ? nothing : html` <span class="muted">${breakable(session)}</span>`}</span>`;
};
