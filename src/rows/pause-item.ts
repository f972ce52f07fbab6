/** A pause as it is stored, on the row of an operation or of a Target. */
import type { Pause } from '../domain/operations/slots.ts';
import type { Item } from './item.ts';

export const pauseItem = ({ id, by, since, until, reason }: Pause): Item => ({
  Id: id,
  By: by,
  Since: since,
  ...(until === undefined ? {} : { Until: until }),
  ...(reason === undefined ? {} : { Reason: reason }),
});

export const pauseOf = (item: Item): Pause => ({
  id: item.Id as string,
  by: item.By as Pause['by'],
  since: item.Since as number,
  ...(item.Until === undefined ? {} : { until: item.Until as number }),
  ...(item.Reason === undefined ? {} : { reason: item.Reason as string }),
});
