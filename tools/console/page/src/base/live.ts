/** Receives the console's live events while a view is open: one stream, with exactly the calls that the view shows. */

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

/** `lost`: the page receives nothing and tries to reconnect. */
export type Connection = 'connecting' | 'open' | 'lost';

/** Number of answers kept, including those of earlier views. */
const REMEMBERED = 60;
/** After this time, a view requests missing answers itself, in milliseconds. */
const PATIENCE = 1_500;
/** Pause before a stream that the server refused is opened again, in milliseconds. */
const AGAIN = 2_000;
/** A page that is hidden for this long closes its stream until it is visible again, in milliseconds. */
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

  /** @param changed called when there is something new to draw. */
  constructor(changed: () => void) {
    this.#changed = changed;
    document.addEventListener('visibilitychange', () => this.#onVisibility());
  }

  /**
   * Receives these calls from now on, and no others. Earlier answers are kept, and shown first when a view is opened
   * again.
   */
  watch(paths: readonly string[]): void {
    if (paths.join('\n') === this.#paths.join('\n') && this.#source) return;
    this.#paths = paths;
    this.#troubles.clear();
    // The server would refuse the whole stream for one path that is too long.
    for (const path of paths.filter(isTooLong)) this.#answers.set(path, TOO_LONG);
    this.#open();
    clearTimeout(this.#impatient);
    this.#impatient = setTimeout(() => void this.#askAtOnce(paths), PATIENCE);
  }

  /** The latest answer of a call, whatever its status; undefined before the first. */
  answer(path: string): Answer | undefined {
    return this.#answers.get(path);
  }

  /** The body of a successful answer. */
  body<Body>(path: string): Body | undefined {
    const answer = this.#answers.get(path);
    return answer && answer.status < 300 ? (answer.body as Body) : undefined;
  }

  /** Whether a call, or reading the metrics, failed. */
  isTroubled(path: string): boolean {
    return this.#troubles.has(path);
  }

  /** Why calls failed, as texts. */
  get troubles(): readonly string[] {
    return [...new Set(this.#troubles.values())];
  }

  /**
   * The server delays its rounds to limit their cost. A user who has just opened a view does not wait for the next one.
   */
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

  /**
   * A server that hangs, or a tunnel that was cut, does not close the stream. After a long silence the page opens a new
   * one.
   */
  #heard(source: EventSource): void {
    clearTimeout(this.#silence);
    this.#silence = setTimeout(() => {
      if (this.#source !== source || source.readyState === EventSource.CLOSED) return;
      this.#become('lost');
      this.#open();
    }, 2 * HEARTBEAT_EVERY);
  }

  /** The browser reconnects by itself, except after a refusal by the server. */
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

const TOO_LONG: Answer = {
  status: 404,
  body: { detail: 'the name, id or search text in this address is longer than any valid one' },
};

const on = <Name extends keyof LiveEvents>(
  source: EventSource,
  name: Name,
  take: (data: LiveEvents[Name]) => void,
): void =>
  source.addEventListener(name, ({ data }: MessageEvent<string>) => take(JSON.parse(data) as LiveEvents[Name]));
