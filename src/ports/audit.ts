/** The store of the audit trail. Entries are added and completed, and never deleted before they expire. */
import type { Entry, EntryKey } from '../domain/audit/entry.ts';
import type { Millis } from '../domain/ids.ts';
import type { Page } from '../domain/page.ts';

/** Which entries to list. */
interface Asked {
  /** A day in UTC, such as `2026-11-27`. @default - all days */
  readonly day?: string | undefined;
  readonly limit: number;
  readonly cursor?: string | undefined;
  readonly now: Millis;
}

export interface Audit {
  /** Stores an entry before its action. */
  begin(entry: Entry): Promise<void>;
  /** Stores the HTTP status of the answer. Does nothing if the entry does not exist. */
  end(entry: EntryKey, status: number): Promise<void>;
  /** The newest entries first. Entries older than the retention time are not listed. @throws InvalidCursor */
  page(asked: Asked): Promise<Page<Entry>>;
}
