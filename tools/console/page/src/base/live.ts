/** What the server tells while a view is open: one stream, of exactly the calls that the view shows. */

import {
  HEARTBEAT_EVERY,
  type LiveEvents,
  type MetricsView,
  PATH_LENGTH_MAX,
  type Usage,
} from '../../../server/shapes.ts';
import { get } from './api.ts';

export interface Answer {
  readonly status: number;
  /** Parsed: large numbers may have lost digits. */
  readonly body: unknown;
}

/** `lost`: nothing comes any more; it is tried again. */
export type Connection = 'connecting' | 'open' | 'lost';

/** Answers of views that were gone from. */
const REMEMBERED = 60;
/** How long a view waits for its first answers until it asks for them itself (ms). */
const PATIENCE = 1_500;
/** Until a stream that the server refused is tried again (ms). */
const AGAIN = 2_000;
/** A page that nobody sees for so long asks for nothing more until it is seen. */
const HIDDEN_FOR = 60_000;

export class Live {
  connection: Connection = 'connecting';
  metrics: MetricsView | undefined;
  usage: Usage | undefined;
  readonly #answers = new Map<string, Answer>();
  readonly #troubles = new Map<string, string>();
  readonly #changed: () => void;
  #paths: readonly string[] = [];
  #source: EventSource | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #impatient: ReturnType<typeof setTimeout> | undefined;
  #silence: ReturnType<typeof setTimeout> | undefined;

  /** @param changed is called when there is anything new to draw. */
  constructor(changed: () => void) {
    this.#changed = changed;
    document.addEventListener('visibilitychange', () => this.#onVisibility());
  }

  /** Asks for these from now on, and for no others. What was known of others is shown first when they are gone to again. */
  watch(paths: readonly string[]): void {
    if (paths.join('\n') === this.#paths.join('\n') && this.#source) return;
    this.#paths = paths;
    this.#troubles.clear();
    // The server would refuse all of them for one.
    for (const path of paths.filter(isTooLong)) this.#answers.set(path, TOO_LONG);
    this.#open();
    clearTimeout(this.#impatient);
    this.#impatient = setTimeout(() => void this.#askAtOnce(paths), PATIENCE);
  }

  /** What a call is answered with now, whatever its status; undefined until it is. */
  answer(path: string): Answer | undefined {
    return this.#answers.get(path);
  }

  /** The body of a call that went well. */
  body<Body>(path: string): Body | undefined {
    const answer = this.#answers.get(path);
    return answer && answer.status < 300 ? (answer.body as Body) : undefined;
  }

  /** Whether a call could not be made, or the metrics not be had. */
  isTroubled(path: string): boolean {
    return this.#troubles.has(path);
  }

  /** Why calls could not be made at all, in words. */
  get troubles(): readonly string[] {
    return [...new Set(this.#troubles.values())];
  }

  /** The server spreads what it asks by itself; somebody who has just gone to a view does not wait for that. */
  async #askAtOnce(paths: readonly string[]): Promise<void> {
    const unknown = paths.filter((path) => !this.#answers.has(path));
    await Promise.all(
      unknown.map(async (path) => {
        const reply = await get(path);
        if (reply.ok && !this.#answers.has(path)) this.#onAnswer({ path, status: reply.status, body: reply.body });
      }),
    );
  }

  #open(): void {
    clearTimeout(this.#timer);
    this.#source?.close();
    const source = new EventSource(
      `/console/live?${this.#paths
        .filter((path) => !isTooLong(path))
        .map((path) => `get=${encodeURIComponent(path)}`)
        .join('&')}`,
    );
    this.#source = source;
    source.onopen = () => {
      this.#become('open');
      this.#heard(source);
    };
    source.onerror = () => this.#onError(source);
    for (const name of ['answer', 'trouble', 'metrics', 'usage', 'heartbeat'] as const)
      on(source, name, () => this.#heard(source));
    on(source, 'answer', (answer) => this.#onAnswer(answer));
    on(source, 'trouble', ({ path, reason }) => {
      this.#troubles.set(path, reason);
      this.#changed();
    });
    on(source, 'metrics', (metrics) => {
      this.#troubles.delete('metrics');
      this.metrics = metrics;
      this.#changed();
    });
    on(source, 'usage', (usage) => {
      this.usage = usage;
      this.#changed();
    });
  }

  #onAnswer({ path, status, body }: LiveEvents['answer']): void {
    this.#troubles.delete(path);
    this.#answers.delete(path);
    this.#answers.set(path, { status, body });
    const [oldest] = this.#answers.keys();
    if (this.#answers.size > REMEMBERED && oldest !== undefined) this.#answers.delete(oldest);
    this.#changed();
  }

  /** A server that hangs, or a tunnel that was cut, closes nothing: who hears nothing for long begins anew. */
  #heard(source: EventSource): void {
    clearTimeout(this.#silence);
    this.#silence = setTimeout(() => {
      if (this.#source !== source || source.readyState === EventSource.CLOSED) return;
      this.#become('lost');
      this.#open();
    }, 2 * HEARTBEAT_EVERY);
  }

  /** The browser tries again by itself, but not where the server refused. */
  #onError(source: EventSource): void {
    this.#become('lost');
    if (source.readyState !== EventSource.CLOSED) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#open(), AGAIN);
  }

  #become(connection: Connection): void {
    if (connection === this.connection) return;
    this.connection = connection;
    this.#changed();
  }

  #onVisibility(): void {
    clearTimeout(this.#timer);
    if (!document.hidden) {
      if (!this.#source || this.#source.readyState === EventSource.CLOSED) this.#open();
      return;
    }
    this.#timer = setTimeout(() => {
      this.#source?.close();
      this.#source = undefined;
    }, HIDDEN_FOR);
  }
}

const isTooLong = (path: string): boolean => path.length > PATH_LENGTH_MAX;

const TOO_LONG: Answer = { status: 404, body: { detail: 'that is longer than any name, id or search may be' } };

const on = <Name extends keyof LiveEvents>(
  source: EventSource,
  name: Name,
  take: (data: LiveEvents[Name]) => void,
): void =>
  source.addEventListener(name, ({ data }: MessageEvent<string>) => take(JSON.parse(data) as LiveEvents[Name]));
