/**
 * Calls the API in rounds for the open pages. A round calls each path once, however many pages show the path, and sends
 * each page the answers that changed. If no page is open, the API is not called. When the last page closes, calls in
 * progress are aborted.
 */
import pLimit from 'p-limit';
import type { Millis } from '../../../src/domain/ids.ts';
import { parseJson } from '../../../src/util/json-text.ts';
import { type CallApi, readUnitsReader, troubleOf } from './call.ts';
import { betweenRounds, fullPurse, type Limits, nextRound, pay } from './interval.ts';
import type { LiveEvents } from './shapes.ts';

/** Sends an event to a page. A newer event with the same `about` replaces an unsent one. */
export type Tell = <Name extends keyof LiveEvents>(name: Name, event: LiveEvents[Name], about: string) => void;

export interface Rounds {
  /** Calls these paths for a page in every round. @returns a function that stops this. */
  open(paths: readonly string[], tell: Tell): () => void;
  /**
   * Makes another call, which is paid from the same budget. After a call that may change something, the next round is
   * urgent, so that the user sees the effect.
   */
  readonly call: CallApi;
  /** The read units that can be spent now; a debt if it is negative. Calls that can wait should not be made without any. */
  balance(): number;
}

/**
 * Maximum number of concurrent calls. The number is small so that the calls need few instances of a deployed stack's
 * function.
 */
const CALLS_AT_ONCE = 4;
/** Maximum time that a call may take, in milliseconds. */
const PATIENCE = 30_000;

/** The result of a call, and its cost in read units. */
interface Outcome {
  readonly text: string;
  readonly units: number;
  tell(to: Tell): void;
}

interface Page {
  readonly paths: ReadonlySet<string>;
  readonly tell: Tell;
  readonly openedAt: Millis;
  /** The cost of all pages together before this page opened, in read units. */
  readonly spentBefore: number;
  /** The text of the last answer that was sent to the page, by path. */
  readonly told: Map<string, string>;
}

export const startRounds = (call: CallApi, limits: Limits, now: () => Millis = Date.now): Rounds => {
  const unitsOf = readUnitsReader();
  const pages = new Set<Page>();
  const outcomes = new Map<string, Outcome>();
  let purse = fullPurse(limits, now());
  let spent = 0;
  let begun: Millis | undefined;
  let isUrgent = false;
  let running: AbortController | undefined;
  let timer: NodeJS.Timeout | undefined;

  const wanted = (): Set<string> => new Set([...pages].flatMap(({ paths }) => [...paths]));
  const cost = (): number => [...wanted()].reduce((sum, path) => sum + (outcomes.get(path)?.units ?? 0), 0);
  const paid = (units: number): void => {
    purse = pay(purse, units, limits, now());
    spent += units;
  };
  const nextAt = (): Millis => nextRound({ begun, cost: cost(), purse, isUrgent }, limits, now());
  const schedule = (): void => {
    clearTimeout(timer);
    if (pages.size > 0 && !running) timer = setTimeout(() => void round(), Math.max(0, nextAt() - now()));
  };

  const round = async (): Promise<void> => {
    const ending = new AbortController();
    running = ending;
    begun = now();
    isUrgent = false;
    const atOnce = pLimit(CALLS_AT_ONCE);
    await Promise.all([...wanted()].map((path) => atOnce(() => look(path, ending.signal))));
    running = undefined;
    for (const page of pages) reportUsage(page);
    schedule();
  };

  const look = async (path: string, ending: AbortSignal): Promise<void> => {
    if (ending.aborted) return;
    const outcome = await ask(call, unitsOf, path, ending);
    paid(outcome.units);
    // All pages that show this path may have closed in the meantime.
    if (ending.aborted || !wanted().has(path)) return;
    outcomes.set(path, outcome);
    for (const page of pages) reportOutcome(page, path, outcome);
  };

  const reportUsage = ({ tell, openedAt, spentBefore }: Page): void => {
    const each = Math.max(nextAt() - now(), betweenRounds(cost(), limits));
    tell(
      'usage',
      {
        readUnits: spent - spentBefore,
        seconds: (now() - openedAt) / 1_000,
        readUnitsPerHour: (cost() * 3_600_000) / each,
        everySeconds: each / 1_000,
      },
      'usage',
    );
  };

  const close = (page: Page): void => {
    pages.delete(page);
    const still = wanted();
    for (const path of outcomes.keys()) if (!still.has(path)) outcomes.delete(path);
    if (pages.size > 0) return;
    clearTimeout(timer);
    running?.abort();
  };

  const open: Rounds['open'] = (asked, tell) => {
    const paths = new Set(asked);
    const page: Page = { paths, tell, openedAt: now(), spentBefore: spent, told: new Map() };
    pages.add(page);
    for (const [path, outcome] of outcomes) reportOutcome(page, path, outcome);
    if (asked.some((path) => !outcomes.has(path))) isUrgent = true;
    schedule();
    return () => close(page);
  };

  const other: CallApi = async (request) => {
    const answer = await call(request);
    paid(unitsOf(answer));
    if (request.method !== 'GET' && request.method !== 'HEAD') isUrgent = true;
    schedule();
    return answer;
  };
  const balance = (): number => pay(purse, 0, limits, now()).units;
  return { open, call: other, balance };
};

const reportOutcome = ({ paths, told, tell }: Page, path: string, outcome: Outcome): void => {
  if (!paths.has(path) || told.get(path) === outcome.text) return;
  told.set(path, outcome.text);
  outcome.tell(tell);
};

const ask = async (
  call: CallApi,
  unitsOf: (answer: Response) => number,
  path: string,
  ending: AbortSignal,
): Promise<Outcome> => {
  try {
    const signal = AbortSignal.any([ending, AbortSignal.timeout(PATIENCE)]);
    const response = await call(new Request(new URL(path, 'http://api.invalid'), { signal }));
    const [text, units, { status }] = [await response.text(), unitsOf(response), response];
    const json = parseJson(text);
    if (!json.ok) return trouble(path, `the API answered ${status} with a body that is not JSON`, units);
    const answer = { path, status, body: json.value };
    return { text: `${status} ${text}`, units, tell: (to) => to('answer', answer, path) };
  } catch (cause) {
    return trouble(path, troubleOf(cause), 0);
  }
};

const trouble = (path: string, reason: string, units: number): Outcome => ({
  text: reason,
  units,
  tell: (to) => to('trouble', { path, reason }, path),
});
