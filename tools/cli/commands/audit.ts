/** `groupage audit`: who did what, from where, when and why. */
import { type Command, InvalidArgumentError } from 'commander';
import { isDay } from '../../../src/domain/audit/entry.ts';
import { table } from '../../terminal.ts';
import { AUDIT_ENTRY, type AuditShape } from '../shared/answers.ts';
import { type CommonOptions, connect } from '../shared/connect.ts';
import { listed, listing, show } from '../shared/pages.ts';

interface AuditOptions extends CommonOptions {
  readonly day?: string;
  readonly limit: number;
}

const someDay = (text: string): string => {
  if (!isDay(text)) throw new InvalidArgumentError('Give a day in UTC, such as 2026-11-27.');
  return text;
};

export const auditCommand = (): Command =>
  listing('audit', 'list who paused, resumed, redrove, cancelled, flushed, repaired or deleted what, and why')
    .option('--day <day>', 'list only entries of this day in UTC, e.g. 2026-11-27', someDay)
    .action(async (options: AuditOptions) => {
      const { day, limit } = options;
      const query = day === undefined ? {} : { day };
      const entries = await listed(await connect(options), 'entries', AUDIT_ENTRY, query, limit + 1, 'audit');
      show(options, 'entries', entries, auditTable, 'no entries: nothing was recorded in this time');
    });

const auditTable = (entries: readonly AuditShape[]): string =>
  table(
    ['TIME', 'ACTION', 'OF', 'BY', 'FROM', 'OUTCOME', 'REASON'],
    entries.map(({ at, action, subject, actor, outcome, status, reason = '' }) => [
      at,
      action,
      subjectText(subject),
      actorText(actor),
      actor.from ?? '',
      status === undefined ? outcome : `${outcome} (${status})`,
      reason,
    ]),
  );

/** `operation ship, target ship/depot=MUC`. */
const subjectText = (subject: AuditShape['subject']): string => {
  const parts = Object.entries(subject).map(([name, value]) => `${name} ${String(value)}`);
  return parts.length > 0 ? parts.join(', ') : 'all Targets';
};

/** The name of the role or user, and the session of a role, which often names a person. */
const actorText = ({ id, name = id, arn = '' }: AuditShape['actor']): string => {
  const [, session] = /:assumed-role\/[^/]+\/(.+)$/.exec(arn) ?? [];
  return session === undefined ? name : `${name}/${session}`;
};
