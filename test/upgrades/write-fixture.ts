/**
 * Writes a fixture: the data folder of a release with work in every state, killed while it is busy. Run against a
 * checkout of the release once the release is tagged:
 *
 *     git worktree add ../groupage-0.1.0 TAG && (cd ../groupage-0.1.0 && npm ci)
 *     node scripts/run.mjs test/upgrades/write-fixture.ts ../groupage-0.1.0 0.1.0
 */
import { resolve } from 'node:path';
import { temporaryFolder } from '../../lib/temporary-folder.ts';
import { startTestDownstream } from '../factories/downstream.ts';
import { upgradeConfig } from './config.ts';
import { behaveAsBefore } from './downstream.ts';
import { fill } from './fill.ts';
import { type Expected, messagesIn, pack } from './fixture.ts';
import { floodAndKill } from './flood.ts';
import { startRelease } from './release.ts';

const [release = '', version = ''] = process.argv.slice(2);
if (!release || !version) throw new Error('usage: write-fixture.ts CHECKOUT VERSION');
const folder = temporaryFolder('fixture');
const downstream = await startTestDownstream(behaveAsBefore);
try {
  const at = { release: resolve(release), folder, config: upgradeConfig(downstream.url) };
  const first = await startRelease(at);
  const filled = await fill(first, at.release);
  await first.end('SIGTERM');
  // The second run is killed, so that its work is cut off. The first run was stopped, so that its work was drained.
  const second = await startRelease(at);
  const expected: Expected = { release: version, writtenAt: await floodAndKill(second, downstream), ...filled };
  const messages = messagesIn(folder);
  console.log(messages);
  for (const queue of ['Register', 'Elect', 'Group', 'Batch', 'Callback', 'Register-Dead', 'Rejected'])
    if (!Object.keys(messages).some((name) => name.includes(queue)))
      throw new Error(`no message in ${queue}: run the script again`);
  pack(folder, expected);
} finally {
  await downstream.stop();
}
