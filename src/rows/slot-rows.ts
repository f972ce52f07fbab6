/** Pages of slots in the BatchLock table: rows with a set of slots each, in partitions of their own. */
import { PAGE_SIZE, PAGES_TOGETHER, type SlotPage } from '../domain/operations/slot-pages.ts';
import type { Slot } from '../domain/operations/slots.ts';
import type { Item } from './item.ts';
import { readable } from './row-version.ts';

const PREFIX = 'slots#';

/** `#` is in no Target, and in no operation's name. @param owner the partition of the Target, or of the operation */
const partitionOf = (owner: string, part: number): string => `${owner}#slots-${part}`;

/** The partitions of the pages beyond the first one, for `cap` slots. */
export const slotPartitions = (owner: string, cap: number): readonly string[] => {
  const pages = Math.max(0, Math.ceil(cap / PAGE_SIZE));
  return Array.from({ length: Math.ceil(pages / PAGES_TOGETHER) }, (_, part) => partitionOf(owner, part));
};

/** @param page 1 or more */
export const slotPageKey = (owner: string, page: number): Item => ({
  Target: partitionOf(owner, Math.floor((page - 1) / PAGES_TOGETHER)),
  Entry: `${PREFIX}${String(page).padStart(3, '0')}`,
});

/** @throws NewerRow */
export const slotPageOf = (stored: Item): SlotPage => {
  const { Entry } = readable('slot page', stored);
  return { page: Number((Entry as string).slice(PREFIX.length)), slots: slotsOf(stored) };
};

export const slotsOf = ({ InFlight = [] }: Item): readonly Slot[] => [...(InFlight as Iterable<Slot>)];
