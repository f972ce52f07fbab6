/** `npm run screenshots`: takes the screenshots of the console for the docs, during a real run of about a minute. */
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { Browser } from 'playwright-core';
import { eventually } from '../../end-to-end/flow.ts';
import { type Behaviour, startTestDownstream } from '../../factories/downstream.ts';
import { launchChromium } from './chromium.ts';
import { type ConsoleStack, startConsoleStack } from './stack.ts';

const IMAGES = join(import.meta.dirname, '../../../docs/images');
const ROUNDS = 45;
const CARRIERS = ['DHL', 'GLS', 'UPS'];
const DEPOTS = ['BER', 'CGN', 'HAM', 'MUC'];

/** Takes longer for more parcels. Refuses parcels that are too heavy or have no postal code. */
const depot: Behaviour = async ({ items }) => {
  await setTimeout(60 + items.length * 8);
  const results = items.map(({ id, payload }) => {
    if (Number(payload.weightKg) > 30)
      return {
        id,
        status: 'failed',
        error: { code: 'too-heavy', message: `${payload.weightKg} kg: this depot takes up to 30 kg` },
      };
    if (payload.zip === '')
      return { id, status: 'failed', error: { code: 'no-zip', message: 'the address has no postal code' } };
    return { id, status: 'succeeded', result: { tour: `T${items.length}` } };
  });
  return { status: 200, body: { results } };
};

const parcel = (n: number): object => ({
  operation: 'distribute-parcels',
  id: `parcel-${n}`,
  payload: {
    carrier: CARRIERS[n % 3],
    depot: DEPOTS[(n * 7) % 4],
    orderId: 4_711_000 + n,
    weightKg: n % 97 === 5 ? 42 : 1 + (n % 23),
    zip: n % 151 === 7 ? '' : '80331',
  },
});

/** The number of parcels varies over time. */
const parcelsIn = (round: number): number => 14 + Math.round(10 * Math.sin(round / 5)) + (round % 4) * 3;

const traffic = async ({ ask }: ConsoleStack): Promise<void> => {
  let sent = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const tasks = Array.from({ length: parcelsIn(round) }, () => parcel(sent++));
    const items = Array.from({ length: 8 }, (_, n) => ({
      operation: 'reindex',
      payload: { shelf: `S${n % 2}`, item: round * 8 + n },
    }));
    await ask('/tasks', { tasks: [...tasks, ...items] });
    await setTimeout(1_000);
  }
};

interface Picture {
  readonly name: string;
  readonly hash: string;
  /** A selector that matches once the data have arrived. */
  readonly ready: string;
  readonly colorScheme: 'light' | 'dark';
  readonly width: number;
  readonly height: number;
}

const PICTURES: readonly Picture[] = [
  { name: 'overview', hash: '#/', ready: '.health .sum', colorScheme: 'light', width: 1280, height: 1090 },
  { name: 'overview-dark', hash: '#/', ready: '.health .sum', colorScheme: 'dark', width: 1280, height: 1090 },
  { name: 'task', hash: '#/tasks/parcel-5', ready: '.json-key', colorScheme: 'dark', width: 1280, height: 620 },
  { name: 'failures', hash: '#/failures', ready: '.cause .examples a', colorScheme: 'light', width: 1280, height: 700 },
  { name: 'phone', hash: '#/', ready: '.health .sum', colorScheme: 'light', width: 360, height: 760 },
];

const take = async (browser: Browser, site: string, picture: Picture): Promise<void> => {
  const { name, hash, ready, colorScheme, width, height } = picture;
  const page = await browser.newPage({ colorScheme, viewport: { width, height } });
  await page.goto(`${site}${hash}`);
  await page.locator(ready).first().waitFor();
  // Wait until all live data have arrived.
  await page.getByText('read units an hour').waitFor();
  await eventually(async () => (await page.locator('.skeleton').count()) === 0);
  await page.screenshot({ path: join(IMAGES, `console-${name}.png`) });
  await page.close();
};

const run = async (): Promise<void> => {
  const downstream = await startTestDownstream(depot);
  const operation = (target: string[], maxSize: number) => ({
    target,
    batch: { maxSize, maxWait: '3s' as const },
    downstream: { kind: 'http' as const, url: downstream.url },
  });
  const stack = await startConsoleStack({
    operations: {
      'distribute-parcels': { ...operation(['carrier', 'depot'], 10), concurrency: { perTarget: 2, total: 6 } },
      reindex: operation(['shelf'], 25),
    },
  });
  const browser = await launchChromium();
  try {
    const sending = traffic(stack);
    await setTimeout((ROUNDS - 12) * 1_000);
    for (const picture of PICTURES) await take(browser, stack.site, picture);
    await sending;
  } finally {
    await browser.close();
    await stack.stop();
    await downstream.stop();
  }
};

await run();
