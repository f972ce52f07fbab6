/**
 * `npm run bench:fleet-processes` runs worker processes that share 64 partitions through the embedded engine, with
 * incidents: SIGKILL, SIGSTOP and SIGCONT, busy loops, a rolling restart. Each unit of work is logged. The rules of
 * `fleet-processes/verdict.ts` are checked on the whole log. For each chapter, the number of moves is compared with the
 * expected range, and the longest time without an owner with its limit.
 *
 * - `--full`: times as in the cloud: 8 workers, a cycle of 5 s, stops of 60 s, busy loops of 30 s. This takes about ten
 *   minutes.
 * - without `--full`: a cycle of 1 s and shorter times. This takes about three minutes.
 * - `--only 'a busy loop,SIGKILL'`: only these chapters.
 */
import { parseArgs } from 'node:util';
import { temporaryFolder } from '../lib/temporary-folder.ts';
import { startDynamoDB } from '../tools/local/dynamodb-engine.ts';
import { makeFleetTable } from '../tools/local/resources.ts';
import { plural, table } from '../tools/terminal.ts';
import { Crew } from './fleet-processes/crew.ts';
import { CHAPTERS, type Told, tell } from './fleet-processes/story.ts';

const [WORKERS, PARTITIONS] = [8, 64];

const { values } = parseArgs({ options: { full: { type: 'boolean', default: false }, only: { type: 'string' } } });
const names = values.only?.split(',');
const unknown = names?.filter((name) => !CHAPTERS.some((chapter) => chapter.name === name)) ?? [];
if (unknown.length > 0) {
  console.error(
    `no chapter is named ${unknown.join(', ')}; the chapters are ${CHAPTERS.map(({ name }) => name).join(', ')}`,
  );
  process.exit(2);
}

const cycle = values.full ? 5_000 : 1_000;
const maxBlocked = 12 * cycle;
// The longest block must end well after the eviction of the node: 12 cycles, a Ttl of 6 cycles, and some more.
const spans = { pause: 12 * cycle, block: 6 * cycle, longBlock: maxBlocked + 11 * cycle };

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;
const engine = await startDynamoDB({ port: 0 });
const at = await makeFleetTable(engine.endpoint, 'Fleet');
const folder = temporaryFolder('fleet-processes');
const crew = new Crew({ fleet: 'bench', table: at, partitions: PARTITIONS, cycle, maxBlocked, folder });
console.log(`${WORKERS} workers, ${PARTITIONS} partitions, a cycle of ${seconds(cycle)}`);
const onChapter = ({ name, moves, longestPause }: Told): void =>
  console.log(`${name}: ${moves} partitions moved; the longest pause of a partition was ${seconds(longestPause)}`);
try {
  const { chapters, whole, ttl } = await tell(crew, WORKERS, spans, { onChapter, ...(names ? { names } : {}) });
  const rows = chapters.map(({ name, moves, expected: [least, most], refused, overlaps, seconds: took, ...told }) => [
    ...[name, moves, least === most ? String(least) : `${least} to ${most}`, overlaps, refused],
    ...[seconds(told.longestPause), seconds(told.stated), seconds(told.longestHandOver), seconds(took * 1_000)],
  ]);
  const headings = [
    ...['', 'moved', 'expected', 'overlaps', 'refused', 'longest pause', 'at most', 'longest hand-over'],
    'settled after',
  ];
  console.log(`\n${table(headings, rows)}`);
  console.log(
    `\n${plural(whole.units, 'unit')} of work, ${plural(whole.accepted, 'checkpoint')} accepted and ${whole.refused} refused; the longest published Ttl was ${seconds(ttl)}, the longest overlap ${seconds(whole.longestOverlap)}; ${plural(whole.violations.length, 'violation')} of the rules`,
  );
  const odd = chapters.flatMap(({ name, moves, expected: [least, most], longestPause, stated, ...told }) => [
    ...(told.longestHandOver > told.handOver
      ? [`${name}: a partition that was handed over waited for ${seconds(told.longestHandOver)}`]
      : []),
    ...(moves < least || moves > most ? [`${name}: ${moves} partitions moved; expected ${least} to ${most}`] : []),
    ...(longestPause > stated ? [`${name}: a partition had no owner for ${seconds(longestPause)}`] : []),
  ]);
  for (const wrong of [...whole.violations.slice(0, 50), ...odd]) console.error(wrong);
  if (whole.violations.length + odd.length > 0) process.exitCode = 1;
} finally {
  await crew.end();
  await engine.stop();
}
