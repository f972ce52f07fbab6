/** The share of destinations in memory. */
import { NEW_SHARE, type Share } from '../domain/callbacks/share.ts';
import type { Shares } from '../ports/callbacks.ts';
import { type Gate, through } from '../virtual/gate.ts';
import { type Lag, rowBehind, upToDate } from './remembered.ts';

/** One row, in a map that may remember what it showed before. */
export type ShareRow = Map<'share', Share>;

export const memoryShares = (row: ShareRow, gate: Gate, lag: Lag = upToDate): Shares => ({
  read: (how) =>
    through(
      gate,
      'shares.read',
      () => (how === 'now' ? row.get('share') : rowBehind(row, 'share', lag())) ?? NEW_SHARE,
    ),
  write: (share) =>
    through(gate, 'shares.write', () => {
      if ((row.get('share') ?? NEW_SHARE).version !== share.version) return false;
      row.set('share', { ...share, version: share.version + 1 });
      return true;
    }),
});
