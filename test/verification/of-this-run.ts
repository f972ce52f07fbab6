/** The schedules of this run of the tests: others each time, so that the machines that run them keep looking. */

/** The first one's; tests print it, and it repeats the run. */
export const seed = Number(process.env.GROUPAGE_SEED ?? Date.now() % 1_000_000_000);

/** How many there are of a kind: enough that everything that is counted happens. `GROUPAGE_SCHEDULES` asks for more. */
export const atLeast = (usual: number): number => Math.max(usual, Number(process.env.GROUPAGE_SCHEDULES ?? 0));

/** How many there are of what takes long: more in CI, where nothing may be missing. */
export const share = (usual: number, inCI: number): number =>
  atLeast(process.env.GROUPAGE_REQUIRE_ALL === '1' ? inCI : usual);
