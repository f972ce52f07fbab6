/** The schedules of this test run. The seed differs each time, so that further runs cover further schedules. */
import { AT_LENGTH } from '../at-length.ts';

/** The seed of the first schedule. Tests print it; the variable repeats the run. */
export const seed = Number(process.env.GROUPAGE_SEED ?? Date.now() % 1_000_000_000);

/** The count of schedules of a kind: enough that every counted event occurs. `GROUPAGE_SCHEDULES` raises it. */
export const atLeast = (usual: number): number => Math.max(usual, Number(process.env.GROUPAGE_SCHEDULES ?? 0));

/** The count of slow schedules: more if tests run at length. */
export const share = (usual: number, long: number): number => atLeast(AT_LENGTH ? long : usual);
