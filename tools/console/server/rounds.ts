/**
 * Asks the API, round after round, for what pages that are open want to see. Each path is asked for once a round, however
 * many pages want it; a page is told what has changed. While no page is open nothing is asked; the last one that goes
 * ends what is under way.
 */
import pLimit from 'p-limit';
import type { Millis } from '../../../src/domain/ids.ts';
import { parseJson } from '../../../src/util/json-text.ts';
import { type CallApi, readUnitsReader, troubleOf } from './call.ts';
import { betweenRounds, fullPurse, type Limits, nextRound, pay } from './interval.ts';
import type { LiveEvents } from './shapes.ts';

/** Is told of something about which it knows nothing newer. */
export type Tell = <Name extends keyof LiveEvents>(name: Name, event: LiveEvents[Name], about: string) => void;

export interface Rounds {
  /** A page wants to see these from now on. @returns what ends that. */
  open(paths: readonly string[], tell: Tell): () => void;
  /** Another call, which is paid from the same purse. Whoever does something wants to see at once what came of it. */
  readonly call: CallApi;
}

/** Calls at once: as many as one function of a deployed stack answers without others being started for it. */
const CALLS_AT_ONCE = 4;
/** How long a call may take (ms). */
const PATIENCE = 30_000;

/** What came of a call, and what it cost. */
interface Outcome {
  readonly text: string;
  readonly units: number;
  tell(to: Tell): void;
}

interface Page {
  readonly paths: ReadonlySet<string>;
  readonly tell: Tell;
  readonly openedAt: Millis;
  /** What everybody together had cost by then. */
  readonly spentBefore: number;
  /** By path, what it was told. */
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
    // Nobody may be there any more, or nobody who wants this.
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
  return { open, call: other };
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
    if (!json.ok) return trouble(path, `the API answered ${status} with something that is not JSON`, units);
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
