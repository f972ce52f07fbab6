import axe from 'axe-core';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runFleet } from '../../../src/fleet/run-fleet.ts';
import { eventually } from '../../end-to-end/flow.ts';
import { startTestDownstream, type TestDownstream } from '../../factories/downstream.ts';
import { IS_WITHOUT_BROWSER, launchChromium } from './chromium.ts';
import { type ConsoleStack, startConsoleStack } from './stack.ts';

const PATIENCE = 120_000;
const SHIP_MUC = 'ship/depot=MUC';

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

describe.skipIf(IS_WITHOUT_BROWSER)('the page in a browser', () => {
  let downstream: TestDownstream;
  let console: ConsoleStack;
  let browser: Browser;
  let page: Page;
  const complaints: string[] = [];
  let isRepaired = false;
  const fleet = new AbortController();
  let fleetEnded: Promise<void>;

  /**
   * Collects errors and warnings of the browser, except for 404 answers of the API, which the views show themselves.
   */
  const listenTo = (to: Page): void => {
    to.on('pageerror', (error) => complaints.push(String(error)));
    to.on('console', (message) => {
      const isOfApi = message.text().startsWith('Failed to load resource') && message.location().url.includes('/v1/');
      if (['error', 'warning'].includes(message.type()) && !isOfApi) complaints.push(message.text());
    });
  };
  const open = async (options: Parameters<Browser['newContext']>[0] = {}): Promise<[BrowserContext, Page]> => {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
    context.setDefaultTimeout(PATIENCE);
    const opened = await context.newPage();
    listenTo(opened);
    return [context, opened];
  };
  /** Moves the focus with the Tab key only. */
  const tabTo = async (name: RegExp): Promise<void> => {
    for (let tabs = 0; tabs < 60; tabs += 1) {
      await page.keyboard.press('Tab');
      const text = await page.evaluate<string>(
        'document.activeElement.labels?.[0]?.innerText ?? document.activeElement.innerText ?? ""',
      );
      if (name.test(text.trim())) return;
    }
    throw new Error(`no tab leads to ${name}`);
  };
  const heading = (text: string | RegExp) => page.locator('h1', { hasText: text });
  const badge = (word: string) => page.locator('.heading .badge', { hasText: word });

  beforeAll(async () => {
    downstream = await startTestDownstream(({ items, operation }) =>
      operation === 'book'
        ? { status: 429, body: 'ask later' }
        : !isRepaired && items.some(({ payload }) => payload.fragile === true)
          ? { status: 422, body: 'this depot packs nothing fragile' }
          : {
              status: 200,
              body: { results: items.map(({ id }) => ({ id, status: 'succeeded', result: { tour: 7 } })) },
            },
    );
    console = await startConsoleStack({
      operations: {
        ship: {
          target: ['depot'],
          batch: { maxSize: 10, maxWait: '1s' },
          downstream: { kind: 'http', url: downstream.url },
        },
        book: {
          target: ['depot'],
          batch: { maxSize: 3, maxWait: '1s' },
          circuit: null,
          retry: { maxAttempts: 50 },
          downstream: { kind: 'http', url: downstream.url },
        },
        metered: {
          target: ['depot'],
          limits: ['vendor'],
          batch: { maxSize: 1 },
          downstream: { kind: 'http', url: downstream.url },
        },
      },
      limits: { vendor: { calls: 2, per: '10m', burst: 2, key: ['depot'] } },
    });
    browser = await launchChromium();
    [, page] = await open({ colorScheme: 'light' });
  });
  afterAll(async () => {
    fleet.abort();
    await fleetEnded;
    await browser?.close();
    await console?.stop();
    await downstream?.stop();
  });

  it('sends the first task by keyboard, and shows its result', async () => {
    await page.goto(console.site);
    await page.getByText('All is well').waitFor();
    await page.getByText('No task was registered yet').waitFor();
    await page.getByText(/No batch was sealed since .*, when the counts begin/).waitFor();
    expect(await page.locator('.charts canvas').count()).toBe(0);
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.innerText')).toBe('Skip to the content');
    await tabTo(/^Send a task$/);
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Send a test task' }).waitFor();
    // The form suggests the configured grouping keys.
    const payload = page.getByLabel('Payload');
    await eventually(async () => (await payload.inputValue()).includes('"depot"'));
    await tabTo(/^Payload/);
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.type('{"depot": "MUC", "order": 12345678901234567890}');
    await tabTo(/^Send the task$/);
    await page.keyboard.press('Enter');
    await badge('succeeded').waitFor();
    await page.getByText('12345678901234567890').waitFor();
    await page.getByText('"tour"').waitFor();
    expect(await page.evaluate('location.hash')).toMatch(/^#\/tasks\//);
  });

  it('leads from a task to its batch with its seal reason, and back', async () => {
    await page.locator('.timeline a', { hasText: `${SHIP_MUC}#` }).click();
    await badge('succeeded').waitFor();
    await page.getByText('its oldest task had waited for maxWait').waitFor();
    await page.goBack();
    await heading(/^Task/).waitFor();
    await page.goForward();
    await heading(/^Batch/).waitFor();
  });

  it('shows why the API refuses an invalid task', async () => {
    await page.getByRole('button', { name: 'Send a task' }).click();
    await page.getByLabel('Payload').fill('{"dept": "MUC"}');
    await page.getByRole('button', { name: 'Send the task' }).click();
    await page.locator('dialog .problem', { hasText: 'payload.depot' }).waitFor();
    await page.keyboard.press('Escape');
    expect(await page.getByRole('dialog').count()).toBe(0);
  });

  it('finds a failed task by its id, and shows the answer', async () => {
    await console.ask('/tasks', { operation: 'ship', id: 'vase-1', payload: { depot: 'MUC', fragile: true } });
    await page.getByRole('combobox', { name: 'Search' }).fill('vase-1');
    await page.getByRole('button', { name: 'Find' }).click();
    await badge('failed').waitFor();
    await page.locator('.timeline .quote', { hasText: 'this depot packs nothing fragile' }).last().waitFor();
  });

  describe('finds names', () => {
    const field = () => page.getByRole('combobox', { name: 'Search' });

    it('by a part of them in any case, with the keyboard only', async () => {
      await page.goto(`${console.site}#/failures`);
      await page.locator('h1').waitFor();
      await page.keyboard.press('/');
      await page.keyboard.type('DEPOT=mu');
      await page.getByRole('option', { name: SHIP_MUC }).waitFor();
      await page.getByText(/Searched: 3 operations, .*\d+ Targets? of/).waitFor();
      expect(await field().getAttribute('aria-expanded')).toBe('true');
      await page.keyboard.press('ArrowDown');
      const active = await field().getAttribute('aria-activedescendant');
      expect(await page.locator(`#${active}`).getAttribute('aria-selected')).toBe('true');
      await page.keyboard.press('Enter');
      await heading(SHIP_MUC).waitFor();
      expect(await field().inputValue()).toBe('');
    });

    it('on a page with all results, if Enter has no exact match', async () => {
      await field().fill('SHI');
      await page.keyboard.press('Enter');
      await heading('SHI').waitFor();
      await page.locator('.found a', { hasText: SHIP_MUC }).waitFor();
      await field().fill('ship');
      await page.keyboard.press('Enter');
      await heading(/^Operation ship$/).waitFor();
      await page.goto(`${console.site}#/search?q=nothing-has-this-name`);
      await page.getByText('Nothing is called nothing-has-this-name').waitFor();
    });

    it('until Escape closes the list, and not in other fields', async () => {
      await field().fill('ship');
      await page.getByRole('option').first().waitFor();
      await page.keyboard.press('Escape');
      expect([await page.getByRole('option').count(), await field().inputValue()]).toEqual([0, 'ship']);
      await field().fill('');
      await page.getByRole('button', { name: 'Send a task' }).click();
      await page.getByRole('button', { name: 'Cancel' }).focus();
      await page.keyboard.press('/');
      expect(await page.evaluate('document.activeElement.innerText')).toBe('Cancel');
      await page.getByLabel('Payload').fill('');
      await page.getByLabel('Payload').press('/');
      expect(await page.getByLabel('Payload').inputValue()).toBe('/');
      await page.keyboard.press('Escape');
    });
  });

  it('redrives the tasks of one cause after a dry run', async () => {
    await page.getByRole('link', { name: 'Failures' }).click();
    await page.getByText('1 failed task, grouped into 1 cause').waitFor();
    await page.getByRole('button', { name: 'Redrive 1 task' }).click();
    await page.getByText('Nothing has been sent yet.').waitFor();
    expect(await console.ask('/tasks/vase-1')).toMatchObject({ status: 'failed', run: 1 });
    isRepaired = true;
    await page.getByLabel('Reason').fill('the vase is wrapped');
    await page.getByRole('dialog').getByRole('button', { name: 'Redrive 1 task' }).click();
    await page.getByRole('dialog').getByText('was sent again').waitFor();
    await page.getByRole('button', { name: 'Close' }).click();
    await page.getByText('No failed task').waitFor();
    await page.goto(`${console.site}#/tasks/vase-1`);
    await badge('succeeded').waitFor();
    await page.getByText('Redriven: run 2').waitFor();
  });

  it('pauses with a reason, which it shows, and resumes', async () => {
    await page.goto(`${console.site}#/operations/ship`);
    await page.getByRole('button', { name: 'Pause…' }).click();
    await page.getByLabel('Reason').fill('the port is closed');
    await page.getByRole('button', { name: 'Pause', exact: true }).click();
    await page.locator('.note', { hasText: 'the port is closed' }).waitFor();
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.locator('.health li', { hasText: 'the port is closed' }).waitFor();
    await page.goto(`${console.site}#/operations/ship`);
    await page.getByRole('button', { name: 'Resume…' }).click();
    await page.getByRole('button', { name: 'Resume', exact: true }).click();
    await badge('working').waitFor();
  });

  describe('reads out one step of a chart', () => {
    const stage = () => page.getByRole('slider', { name: 'Tasks registered, step by step' });
    const readout = () => page.locator('.readout');
    /** The time and the values of a step, as the pointer shows them and as a screen reader gets them. */
    const both = async (): Promise<readonly string[]> => [
      (await readout().innerText()).replaceAll(/\s+/g, ' '),
      ((await stage().getAttribute('aria-valuetext')) ?? '').replace(': ', ' '),
    ];

    it('under the mouse, and under a finger', async () => {
      await page.goto(`${console.site}#/`);
      await stage().hover();
      await readout().waitFor();
      const [shown, spoken] = await both();
      expect(shown).toMatch(/^\d\d:\d\d:\d\d to \d\d:\d\d:\d\d tasks \d+$/);
      expect(spoken).toBe(shown);
      await page.mouse.move(0, 0);
      expect(await readout().count()).toBe(0);
      const [context, phone] = await open({ viewport: { width: 390, height: 800 }, hasTouch: true });
      await phone.goto(console.site);
      await phone.getByRole('slider', { name: 'Tasks registered, step by step' }).tap();
      await phone.locator('.readout', { hasText: 'tasks' }).waitFor();
      await context.close();
    });

    it('that the arrow keys lead to', async () => {
      // A chart without values cannot be focused, so wait until the first one has some.
      await page.locator('.charts [role="slider"]').first().waitFor();
      const readsOut = page.locator('.readout', { hasText: 'to now' });
      await eventually(async () => {
        await page.getByRole('radio', { name: '15 minutes' }).focus();
        await page.keyboard.press('Tab');
        return (await readsOut.count()) > 0;
      });
      await stage().focus();
      await page.keyboard.press('ArrowLeft');
      await page.keyboard.press('ArrowLeft');
      const [shown, spoken] = await both();
      expect(shown).toMatch(/^\d\d:\d\d:\d\d to \d\d:\d\d:\d\d tasks \d+$/);
      expect(spoken).toBe(shown);
      await page.keyboard.press('Home');
      expect(await stage().getAttribute('aria-valuenow')).toBe('1');
      await page.keyboard.press('Escape');
      expect(await readout().count()).toBe(0);
    });
  });

  it('shows a longer time range of the charts, also after a reload', async () => {
    await page.goto(`${console.site}#/operations/ship`);
    await page.getByText('24 hours').click();
    const registered = page.locator('chart-panel', { hasText: 'Tasks registered' });
    // A step may have begun between the tests before and this one: two steps have all of their tasks.
    const total = async (): Promise<number> => {
      const slider = registered.getByRole('slider');
      await slider.focus();
      let tasks = 0;
      for (const key of ['End', 'ArrowLeft']) {
        await page.keyboard.press(key);
        tasks += Number(/tasks (\d+)/.exec((await slider.getAttribute('aria-valuetext')) ?? '')?.[1] ?? 0);
      }
      return tasks;
    };
    for (const _ of ['chosen', 'reloaded']) {
      await page
        .getByText(/No batch|mean/)
        .first()
        .waitFor();
      expect(await page.getByRole('radio', { name: '24 hours' }).isChecked()).toBe(true);
      await eventually(async () => (await total()) >= 2);
      await page.reload();
    }
    await page.getByText('15 minutes').click();
    await registered.locator('canvas').waitFor();
    expect(await page.getByRole('radio', { name: '15 minutes' }).isChecked()).toBe(true);
  });

  it('sends the reasons of dialogs, and shows who did what and why', async () => {
    await page.goto(`${console.site}#/targets/${encodeURIComponent(SHIP_MUC)}`);
    await page.getByRole('button', { name: 'Flush…' }).click();
    await page.getByLabel('Reason').fill('the truck & its driver leave');
    await page.getByRole('button', { name: 'Flush', exact: true }).click();
    await page.getByText('are being sealed').waitFor();
    await page.getByRole('link', { name: 'Audit' }).click();
    await heading('Audit').waitFor();
    const row = page.locator('tbody tr', { hasText: 'the truck & its driver leave' });
    await row.waitFor();
    expect(await row.innerText()).toMatch(
      /flush\s+target ship\/depot=MUC\s+\S+\s+the truck & its driver leave\s+.*done/s,
    );
    const redriven = page.locator('tbody tr', { hasText: 'redrive' });
    expect(await redriven.first().innerText()).toMatch(/the vase is wrapped/);
  });

  it('finds Targets by a part of their names, and keeps the typed text', async () => {
    const tasks = ['JFK', 'JNB', 'HAM'].map((depot) => ({ operation: 'ship', payload: { depot } }));
    await console.ask('/tasks', { tasks });
    await page.getByRole('link', { name: 'Targets' }).click();
    const contains = page.getByRole('searchbox', { name: 'Name contains' });
    await contains.fill('=j');
    await page.locator('tbody tr', { hasText: 'depot=JNB' }).waitFor();
    await eventually(async () => (await page.locator('tbody tr').count()) === 2);
    expect(await contains.inputValue()).toBe('=j');
  });

  it('leads from the overview to a retried task and its calls', async () => {
    const payload = { depot: 'ZRH' };
    const tasks = Array.from({ length: 4 }, (_, n) => ({ id: `retried-${n}`, operation: 'book', payload }));
    await console.ask('/tasks', { tasks });
    await page.goto(`${console.site}#/`);
    await page.locator('.health', { hasText: /4 tasks in 2 batches.*answered 429.*fewer calls/s }).waitFor();
    await page.getByRole('link', { name: 'Operations' }).click();
    await page.locator('tbody tr', { hasText: /book.*retrying.*4 retried/s }).waitFor();
    await page.getByRole('link', { name: 'book', exact: true }).click();
    await page.locator('.note', { hasText: '4 tasks: answered 429' }).waitFor();
    await page.getByRole('link', { name: 'Show these batches' }).click();
    await heading('Batches').waitFor();
    expect(await page.getByRole('combobox', { name: 'Show' }).inputValue()).toBe('under-way');
    await page.locator('tbody tr', { hasText: 'answered 429: ask later' }).nth(1).waitFor();
    await page.getByRole('combobox', { name: 'Fill' }).selectOption('full');
    await page.locator('.lead', { hasText: /^1 of 2 batches/ }).waitFor();
    await page.locator('tbody tr').getByRole('link', { name: /^#/ }).first().click();
    await page
      .locator('.waterfall tr', { hasText: /all 3.*answered 429: ask later/s })
      .first()
      .waitFor();
    await page.locator('.facts', { hasText: 'its number among all batches of the Target' }).waitFor();
    await page.getByRole('link', { name: 'retried-0' }).click();
    await page.locator('.timeline li.bad', { hasText: 'Attempt 1: the call failed' }).waitFor();
    expect(await page.locator('.timeline li.ok', { hasText: 'failed' }).count()).toBe(0);
    await page.goto(`${console.site}#/targets`);
    await page.getByRole('combobox', { name: 'Show' }).selectOption('retried');
    await page.locator('tbody tr', { hasText: /depot=ZRH.*retrying.*4 retried.*answered 429/s }).waitFor();
    await eventually(async () => (await page.locator('tbody tr').count()) === 1);
    await page.getByRole('link', { name: 'book/depot=ZRH' }).click();
    await page.locator('.figure', { hasText: /In batches\s*4\s*4 being retried/ }).waitFor();
  });

  it('shows that something does not exist, and does not wait for it', async () => {
    for (const [hash, words] of [
      ['/operations/nobody', 'there is no operation'],
      ['/targets/ship%2Fdepot%3DNONE', 'No task of this Target was ever registered'],
      ['/lists/nobody', 'there is no list'],
      [`/tasks/${'z'.repeat(3_000)}`, 'longer than any'],
    ] as const) {
      await page.goto(`${console.site}#${hash}`);
      await page.locator('main', { hasText: words }).waitFor();
      expect([hash, await page.locator('main .skeleton').count()]).toEqual([hash, 0]);
      await page.getByText('● live').waitFor();
    }
  });

  it('shows rejected messages as text, and redrives and discards them', async () => {
    const evil = '<img src=x onerror="document.body.remove()">';
    await page.goto(`${console.site}#/rejected`);
    await page.getByText('No rejected message').waitFor();
    for (const body of [`{"operation":"gone","id":"o-1","payload":{"text":${JSON.stringify(evil)}}}`, evil])
      await console.refuse(body);
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.locator('.health a', { hasText: 'rejected' }).click();
    await heading('Rejected').waitFor();
    await page.getByText('2 messages, read').waitFor();
    const first = page.locator('.letters .cause', { hasText: 'operation is unknown: "gone"' });
    await first.getByText('A redrive would leave it here: it would be rejected again').waitFor();
    await first.locator('summary').click();
    await first.locator('.json', { hasText: 'onerror' }).waitFor();
    const second = page.locator('.letters .cause', { hasText: 'is not JSON' });
    await second.locator('summary').click();
    expect(await second.locator('pre').innerText()).toBe(evil);
    expect(await page.locator('img').count()).toBe(0);
    await second.getByRole('button', { name: 'Discard' }).click();
    await page.getByLabel('Reason').fill('it was a test');
    await page.getByRole('dialog').getByRole('button', { name: 'Discard' }).click();
    await page.getByText('The message was discarded').waitFor();
    await page.getByText('1 message, read').waitFor();
    await page.getByRole('button', { name: 'Redrive all' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Redrive 1 message' }).click();
    await page.getByRole('dialog').getByText('it would be rejected again').waitFor();
    await page.getByRole('button', { name: 'Close' }).click();
    // The redrive releases the message that it skipped, so the list shows it.
    await page.getByText('1 message, read').waitFor();
    await page.route('**/v1/dead-letters/rejected/messages**', (route) =>
      route.fulfill({ status: 503, json: { detail: 'SQS throttled the request' } }),
    );
    await page.getByRole('button', { name: 'Read again' }).click();
    await page.locator('.problem', { hasText: 'SQS throttled the request' }).waitFor();
    await page.unroute('**/v1/dead-letters/rejected/messages**');
    await page.getByRole('link', { name: 'Audit' }).click();
    await page.locator('tbody tr', { hasText: 'it was a test' }).waitFor();
  });

  it('does not close another dialog when an abandoned one gets its answer', async () => {
    const answered = Promise.withResolvers<void>();
    await page.goto(`${console.site}#/operations/ship`);
    await page.route('**/v1/operations/ship/pause', async (route) => {
      await answered.promise;
      await route.fulfill({ status: 200, json: {} });
    });
    await page.getByRole('button', { name: 'Pause…' }).click();
    await page.getByRole('button', { name: 'Pause', exact: true }).click();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Send a task' }).click();
    await page.getByLabel('Payload').fill('{"depot": "TYPED"}');
    answered.resolve();
    await page.getByText('ship is paused').waitFor();
    expect(await page.getByLabel('Payload').inputValue()).toBe('{"depot": "TYPED"}');
    await page.unroute('**/v1/operations/ship/pause');
    await page.keyboard.press('Escape');
  });

  describe('is accessible', () => {
    let addresses: readonly (readonly [name: string, hash: string, ready: string])[];
    beforeAll(async () => {
      isRepaired = false;
      const { name, endpoint } = {
        name: console.stack.addresses.tables.fleet,
        endpoint: console.stack.addresses.dynamodb,
      };
      const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
      fleetEnded = runFleet({
        fleet: 'flights',
        table: { table: name, endpoint, region: 'local', credentials },
        partitions: 6,
        cycle: 500,
        signal: fleet.signal,
        onPartition: ({ signal }) => new Promise((resolve) => signal.addEventListener('abort', () => resolve())),
      });
      await console.ask('/tasks', { operation: 'ship', id: 'vase-2', payload: { depot: 'HAM', fragile: true } });
      await console.refuse('{"operation":"gone","id":"lost","payload":{}}');
      for (const id of ['first', 'second', 'third'])
        await console.ask('/tasks', { operation: 'metered', id, payload: { depot: 'MUC' } });
      await console.ask('/fan-outs', { id: 'catalog' });
      await console.ask('/fan-outs/catalog/items', { count: 5 });
      await console.ask('/fan-outs/acks', { items: [{ item: 'catalog:0:0', outcome: 'failed' }] });
      await console.ask('/lists', { id: 'night', operation: 'ship' });
      await console.ask('/lists/night/jobs', { jobs: [{ payload: { depot: 'MUC' } }] });
      await console.ask('/tasks', { operation: 'ship', id: 'far', payload: { depot: '🙃'.repeat(40) } });
      await eventually(async () => (await console.ask<{ status?: string }>('/tasks/far')).status === 'succeeded');
      await eventually(async () => (await console.ask<{ status?: string }>('/tasks/vase-2')).status === 'failed');
      await eventually(
        async () => (await console.ask<{ waitsFor?: { limit?: string } }>('/tasks/third')).waitsFor?.limit === 'vendor',
      );
      const { batchId } = await console.ask<{ batchId: string }>('/tasks/vase-2');
      const target = encodeURIComponent(SHIP_MUC);
      addresses = [
        ['overview', '/', '.charts canvas'],
        ['operation', '/operations/ship', 'tbody td a'],
        ['operations', '/operations', 'tbody td a'],
        ['operation with retried batches', '/operations/book', '.note li'],
        ['Targets with retried batches', '/targets?sort=retried', 'tbody td a'],
        ['batches', '/batches', 'tbody td a'],
        ['retried batches', '/batches?operation=book&which=under-way', 'tbody td a'],
        ['audit', '/audit', 'tbody td a'],
        ['targets', '/targets', 'tbody td a'],
        ['target', `/targets/${target}`, 'tbody td a'],
        ['batch', `/batches/${encodeURIComponent(batchId)}`, '.waterfall td'],
        ['task', '/tasks/vase-2', '.json-key'],
        ['task of a Target with a name that has no end', '/tasks/far', '.under a'],
        ['unknown task', '/tasks/nobody', '.empty ol'],
        ['failures', '/failures', '.cause a'],
        ['rejected', '/rejected', '.letters .cause summary'],
        ['given-up', '/given-up', '.problem'],
        ['fan-outs', '/fan-outs', 'tbody td a'],
        ['fan-out', '/fan-outs/catalog', '.members li'],
        ['lists', '/lists', 'tbody td a'],
        ['list', '/lists/night', 'tbody .badge'],
        ['limits', '/limits', 'tbody td a'],
        ['limit', '/limits/vendor', 'tbody td a'],
        ['task that waits for a limit', '/tasks/third', '.timeline a'],
        ['fleets', '/fleets', 'tbody td a'],
        ['fleet', '/fleets/flights', '.grid .cell'],
        ['search', '/search?q=shi', '.found a'],
        ['no view', '/nowhere', 'main p a'],
      ];
    });

    const LOOKS = [1280, 360].flatMap((width) => (['light', 'dark'] as const).map((scheme) => ({ width, scheme })));

    /** The violations that axe finds, and views that are wider than the window, in each size and colour scheme. */
    const findings = async (of: Page, name: string): Promise<string[]> => {
      const found: string[] = [];
      for (const { width, scheme } of LOOKS) {
        await of.setViewportSize({ width, height: 800 });
        await of.emulateMedia({ colorScheme: scheme });
        const violations = await of.evaluate<Violation[]>(
          `axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'], resultTypes: ['violations'] }).then((it) => it.violations)`,
        );
        const told = violations.flatMap(({ id, nodes }) =>
          nodes.map((node) => `${id}: ${node.html} ${node.failureSummary}`),
        );
        const beyond = await of.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
        if (beyond > 0) told.push(`${beyond} px too wide`);
        found.push(...told.map((text) => `${name}, ${scheme}, ${width}: ${text}`));
      }
      return found;
    };

    it('in every view, colour scheme and width', async () => {
      const [context, view] = await open();
      await view.goto(console.site);
      await view.evaluate(axe.source);
      const found: string[] = [];
      for (const [name, hash, ready] of addresses) {
        await view.goto(`${console.site}#${hash}`);
        await view.locator(ready).first().waitFor();
        found.push(...(await findings(view, name)));
      }
      await view.goto(`${console.site}#/operations/ship`);
      await view.getByText(/^\d+ settings with their defaults/).click();
      await view.getByRole('button', { name: 'Simulate' }).click();
      await view.getByRole('button', { name: 'Simulate again' }).waitFor();
      found.push(...(await findings(view, 'configuration and advice')));
      await view.getByRole('combobox', { name: 'Search' }).fill('ship');
      await view.getByRole('option').first().waitFor();
      await view.keyboard.press('ArrowDown');
      found.push(...(await findings(view, 'suggestions')));
      await view.goto(`${console.site}#/`);
      await view.getByRole('slider').first().focus();
      await view.keyboard.press('Home');
      await view.locator('.readout').waitFor();
      found.push(...(await findings(view, 'a step of a chart')));
      await view.getByRole('button', { name: 'Send a task' }).click();
      found.push(...(await findings(view, 'send a task')));
      await view.keyboard.press('Escape');
      await view.goto(`${console.site}#/failures`);
      await view.getByRole('button', { name: 'Redrive 1 task' }).click();
      await view.getByText('Nothing has been sent yet.').waitFor();
      found.push(...(await findings(view, 'redrive')));
      await context.close();
      expect(found).toEqual([]);
    });

    it('in the chosen colours, also after a reload', async () => {
      await page.getByRole('button', { name: /^Colours: Auto/ }).click();
      await page.getByRole('button', { name: /^Colours: Light/ }).click();
      await page.reload();
      await page.getByRole('button', { name: /^Colours: Dark/ }).waitFor();
      expect(await page.evaluate('getComputedStyle(document.documentElement).colorScheme')).toBe('dark');
    });
  });

  it('shows what is used of a limit, and who waits for it', async () => {
    await page.goto(`${console.site}#/tasks/third`);
    await page
      .getByText(/Waits for the limit vendor \(depot=MUC\): its next call may start in about \d+ min/)
      .waitFor();
    await page.getByRole('link', { name: 'limit vendor' }).click();
    await heading('vendor').waitFor();
    const muc = page.getByRole('row').filter({ has: page.getByText('depot=MUC', { exact: true }) });
    expect(await muc.innerText()).toMatch(/2 of 2\s+in \d+ min.*\s+1\s/);
    await page.getByRole('heading', { name: 'Waiting under depot=MUC, the next one first' }).waitFor();
    await page.getByLabel('Key begins with').fill('depot=H');
    await page.getByText('No bucket has a key that begins with "depot=H"').waitFor();
    await page.getByRole('link', { name: 'Show all buckets' }).click();
    await page.getByRole('link', { name: 'metered/depot=MUC' }).click();
    await heading('metered/depot=MUC').waitFor();
    await page.goto(`${console.site}#/operations/metered`);
    await page.getByRole('link', { name: 'vendor', exact: true }).waitFor();
    await page.goto(`${console.site}#/limits/unknown`);
    await page.locator('.problem', { hasText: 'the limit "unknown" is not configured' }).waitFor();
  });

  it('shows a configuration with its sources, and no advice', async () => {
    await page.goto(`${console.site}#/operations/book`);
    const row = (path: string) => page.getByRole('row').filter({ has: page.getByText(path, { exact: true }) });
    await row('batch.maxSize').getByText('3', { exact: true }).waitFor();
    expect(await row('batch.maxSize').innerText()).toMatch(/operation\s+Maximum tasks in a batch/);
    expect(await row('circuit').innerText()).toContain('null');
    expect(await row('keepTasks').isVisible()).toBe(false);
    await page.getByText(/^\d+ settings with their defaults/).click();
    expect(await row('keepTasks').innerText()).toContain('30d');
    await page.getByRole('button', { name: 'Simulate' }).click();
    await page.getByText('There are too few figures for advice').waitFor();
  });

  it('shows that the connection is lost, and reconnects by itself', async () => {
    await page.goto(`${console.site}#/`);
    await page.getByText('● live').waitFor();
    await page.context().setOffline(true);
    await page.route('**/console/live**', (route) => route.abort());
    await page.goto(`${console.site}#/targets`).catch(() => {});
    await page.getByText('The connection to the console is lost').waitFor();
    await page.unroute('**/console/live**');
    await page.context().setOffline(false);
    await page.getByText('● live').waitFor();
    complaints.splice(0, complaints.length, ...complaints.filter((text) => !text.includes('net::ERR_')));
  });

  it('causes no errors, warnings or policy violations', () => expect(complaints).toEqual([]));
});
