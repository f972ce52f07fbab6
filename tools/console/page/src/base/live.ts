/**
 * Receives the console's live events while a view is open. One stream carries the answers of exactly the calls that the
 * view shows.
 */

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
  /** The parsed body, in which large numbers may have lost digits. */
  readonly body: unknown;
}

/** `lost`: the page receives no events and tries to reconnect. */
export type Connection = 'connecting' | 'open' | 'lost';

/** Maximum number of stored answers, including answers for earlier views. */
const REMEMBERED = 60;
/** How long a view waits for missing answers before it requests them itself, in milliseconds. */
const PATIENCE = 1_500;
/** Pause before the page opens a stream again that the server refused, in milliseconds. */
const AGAIN = 2_000;
/**
 * How long a page is hidden before it closes its stream, in milliseconds. It opens a stream when it is visible again.
 */
const HIDDEN_FOR = 60_000;

export class Live {
  connection: Connection = 'connecting';
  metrics: MetricsView | undefined;
  /** The metrics of a longer time range, if {@link watch} asked for one. */
  charts: MetricsView | undefined;
  usage: Usage | undefined;
  readonly #answers = new Map<string, Answer>();
  readonly #troubles = new Map<string, string>();
  readonly #changed: () => void;
  #paths: readonly string[] = [];
  #window: number | undefined;
  #source: EventSource | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #impatient: ReturnType<typeof setTimeout> | undefined;
  #silence: ReturnType<typeof setTimeout> | undefined;

  /** @param changed is called when there is something new to draw. */
  constructor(changed: () => void) {
    this.#changed = changed;
    document.addEventListener('visibilitychange', () => this.#onVisibility());
  }

  /**
   * Receives the answers of these calls, and of no others. Earlier answers are kept, so that a view shows them when it
   * is opened again.
   *
   * @param window the length of a longer time range, whose metrics are received too, in milliseconds.
   */
  watch(paths: readonly string[], window?: number): void {
    if (paths.join('\n') === this.#paths.join('\n') && window === this.#window && this.#source) return;
    this.#paths = paths;
    this.#window = window;
    this.#troubles.clear();
    // Answer a path that is too long here, because the server would refuse the whole stream for such a path.
    for (const path of paths.filter(isTooLong)) this.#answers.set(path, TOO_LONG);
    this.#open();
    clearTimeout(this.#impatient);
    this.#impatient = setTimeout(() => void this.#askAtOnce(paths), PATIENCE);
  }

  /** The latest answer of a call, whatever its status. Undefined before the first answer. */
  answer(path: string): Answer | undefined {
    return this.#answers.get(path);
  }

  /** The body of a successful answer. Undefined if there is no answer or the call failed. */
  body<Body>(path: string): Body | undefined {
    const answer = this.#answers.get(path);
    return answer && answer.status < 300 ? (answer.body as Body) : undefined;
  }

  /** Whether the call of a path failed. For the paths `metrics` and `charts`: whether reading the metrics failed. */
  isTroubled(path: string): boolean {
    return this.#troubles.has(path);
  }

  /** The reasons why calls failed, as texts for the user. */
  get troubles(): readonly string[] {
    return [...new Set(this.#troubles.values())];
  }

  /**
   * Requests the answers that are still missing. The server delays its rounds to limit their cost, but a user who has
   * just opened a view should not wait for the next round.
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
    const gets = this.#paths.filter((path) => !isTooLong(path)).map((path) => `get=${encodeURIComponent(path)}`);
    const window = this.#window === undefined ? [] : [`window=${this.#window}`];
    const source = new EventSource(`/console/live?${[...gets, ...window].join('&')}`);
    this.#source = source;
    source.onopen = () => {
      this.#become('open');
      this.#heard(source);
    };
    source.onerror = () => this.#onError(source);
    for (const name of ['answer', 'trouble', 'metrics', 'charts', 'usage', 'heartbeat'] as const)
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
    on(source, 'charts', (charts) => {
      this.#troubles.delete('charts');
      this.charts = charts;
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
   * Restarts the timer that opens a new stream after a long silence. The timer is necessary because a server that
   * hangs, or a tunnel that was cut, does not close the stream.
   */
  #heard(source: EventSource): void {
    clearTimeout(this.#silence);
    this.#silence = setTimeout(() => {
      if (this.#source !== source || source.readyState === EventSource.CLOSED) return;
      this.#become('lost');
      this.#open();
    }, 2 * HEARTBEAT_EVERY);
  }

  /** The browser reconnects automatically, unless the server refused the stream. */
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
