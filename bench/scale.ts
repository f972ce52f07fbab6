/**
 * `npm run bench:scale` simulates large loads, outages and duplicates, and prints the tables of docs/evidence/scale.md.
 * `-- --parts million-targets,hot-target,outage,duplicates,resume,limits` selects parts; `-- --write` puts the tables into
 * docs/evidence/scale.md.
 */
import { parseArgs } from 'node:util';
import { tellDuplicates } from './scale/duplicates.ts';
import { tellHotTarget } from './scale/hot-target.ts';
import { tellLimits } from './scale/limits.ts';
import { tellMillionTargets } from './scale/million-targets.ts';
import { tellOutage } from './scale/outage.ts';
import { tellResume } from './scale/resume.ts';
import { writeBetween } from './scale/table.ts';

const PARTS: Readonly<Record<string, () => Promise<string>>> = {
  'million-targets': tellMillionTargets,
  'hot-target': tellHotTarget,
  outage: tellOutage,
  duplicates: tellDuplicates,
  resume: tellResume,
  limits: tellLimits,
};

const { values } = parseArgs({
  options: {
    parts: { type: 'string', default: Object.keys(PARTS).join(',') },
    write: { type: 'boolean', default: false },
  },
});

for (const part of values.parts.split(',')) {
  const tell = PARTS[part];
  if (!tell) throw new Error(`no part "${part}": ${Object.keys(PARTS).join(', ')}`);
  const text = await tell();
  console.log(`\n${part}\n\n${text}`);
  if (values.write) writeBetween(part, text);
}
