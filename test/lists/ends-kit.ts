/** For the tests of ends: lists with jobs, the ways to end a list, and its progress. */
import { itemIdOf } from '../../src/domain/fan-out-ids.ts';
import { itemOf } from '../../src/domain/lists/ids.ts';
import { cancelRest, discard } from '../../src/steps/fan-outs/end.ts';
import { listProgress } from '../../src/steps/lists/jobs.ts';
import { LIST, type ListKit, listKit, MINUTE, type Process, reportingOps } from './kit.ts';

export const TRACKER = `~${LIST}` as never;
export const DAY = 24 * 60 * MINUTE;
/** The items of jobs. */
export const items = (kit: ListKit, first: number, count: number): string[] =>
  Array.from({ length: count }, (_, n) => itemIdOf(itemOf(LIST, first + n, kit.fanOuts.width)));
/** A list with that many jobs. */
export const holding = async (count: number, size = {}, config = reportingOps()): Promise<ListKit> => {
  const kit = listKit(size, config);
  await kit.open({ userKey: 'name' });
  for (let left = count, n = 0; left > 0; left -= 1_000, n += 1) await kit.add(Math.min(left, 1_000), `add${n}-`);
  return kit;
};
export const cancel = async (by: Process) => cancelRest(by, await seen(by));
export const remove = async (by: Process) => discard(by, await seen(by));
const seen = async ({ lists }: Process) => {
  const list = await lists.read(LIST);
  if (!list) throw new Error('there is no list');
  return list;
};
/** The progress of the list. */
export const looks = async (kit: ListKit) => listProgress(kit, await seen(kit));
