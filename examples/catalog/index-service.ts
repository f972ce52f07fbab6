/**
 * The downstream in its own process: a search index, here a file with a line for each written item. It refuses items without a
 * price, and writes an item again if it receives it again.
 *
 *   node index-service.ts PORT FILE [DIE-AFTER]     kills itself after it has written this number of items
 */
import { appendFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import type { CatalogItem } from './catalog.ts';

const [port = '', file = '', dieAfter = 'never'] = process.argv.slice(2);
let written = 0;

interface Item {
  readonly id: string;
  readonly payload: CatalogItem;
}

const index = ({ id, payload }: Item) => {
  if (payload.price === undefined)
    return { id, status: 'failed', error: { code: 'no-price', message: `${payload.sku} has no price` } };
  appendFileSync(file, `${id}\n`);
  written += 1;
  if (written === Number(dieAfter)) process.kill(process.pid, 'SIGKILL');
  return { id, status: 'succeeded' };
};

createServer(async (request, response) => {
  const { items } = JSON.parse(await text(request)) as { items: Item[] };
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ results: items.map(index) }));
}).listen(Number(port), '127.0.0.1', () => process.send?.('ready'));
