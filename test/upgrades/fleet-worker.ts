/** A fleet worker with the code of the release in the first argument. It appends its name to each checkpoint. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { LOCAL_REGION } from '../../tools/local/clients.ts';

const [, , release = '', setting = '{}'] = process.argv;
const { fleet, node, endpoint, table } = JSON.parse(setting);
const { exports } = JSON.parse(readFileSync(join(release, 'package.json'), 'utf8'));
const runtime = pathToFileURL(join(release, exports['./fleet'])).href;
const { runFleet } = (await import(runtime)) as typeof import('../../src/fleet/run-fleet.ts');

await runFleet({
  fleet,
  node,
  partitions: ['north', 'south', 'east'],
  cycle: 200,
  table: { table, endpoint, region: LOCAL_REGION, credentials: { accessKeyId: 'local', secretAccessKey: 'local' } },
  onPartition: async (partition) => {
    const { id, fence, from, signal } = partition;
    await partition.checkpoint(`${from ?? ''}${node};`);
    console.log(JSON.stringify({ id, fence, from: from ?? null }));
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  },
});
