/**
 * A process of a user's program, which speaks the protocol.
 *
 *     starting ──ready──▶ living ──stop, or the end of its input──▶ ending ──▶ ended
 *        └───────────────────┴──────────silent, or a faulty message──killed──▶ ended
 *
 * The process has a process group of its own. So Ctrl-C reaches only this process, which lets the work end, and a kill
 * also ends what the program has started.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import type { Millis } from '../../../src/domain/ids.ts';
import { reasonOf } from '../../../src/util/problems.ts';
import { CommandFailure } from '../../failure.ts';
import { printable } from '../../terminal.ts';
import { type FromWorker, readLine, type ToWorker } from './protocol.ts';

/** The longest line, in bytes, and the most unread messages of a process. Beyond, it does not follow the protocol. */
const [LINE_MAX, UNREAD_MAX] = [4 * 1_024 * 1_024, 1_000];
const NEWLINE = 0x0a;
/** How long the output of an ended process may stay open, because of processes that it has started, in milliseconds. */
const OUTPUT_OPEN: Millis = 1_000;
/** The part of a line that is shown. */
const SHOWN = 500;

/** The program cannot be started, or ended before it was ready. It got no work. */
class NotStarted extends CommandFailure {}

/** A process ended, by itself or because it was killed. */
export class WorkerEnded extends Error {
  /** Whether the process ended by itself with exit status 0. */
  readonly isClean: boolean;
  constructor(why: string, isClean = false) {
    super(`the worker process ${why}`);
    this.isClean = isClean;
  }
}

export interface ProcessOptions {
  /** The program and its arguments. No shell reads them. */
  readonly command: readonly [string, ...string[]];
  /** Longest time without a message while one is due, and longest time for the end after a stop, in milliseconds. */
  readonly timeout: Millis;
}

const living = new Set<WorkerProcess>();

/** Kills all processes. */
export const killAll = (): void => {
  for (const each of living) each.kill('was killed, because this command ends');
};

export class WorkerProcess {
  /** Whether the process has answered a job. */
  hasWorked = false;
  /** Whether it has sent a message since the last message to it. */
  hasAnswered = false;
  /** When it was started, by `performance.now()`. */
  readonly since = performance.now();
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #timeout: Millis;
  readonly #inbox: FromWorker[] = [];
  readonly #over = Promise.withResolvers<void>();
  #asked: PromiseWithResolvers<FromWorker> | undefined;
  #silence: NodeJS.Timeout | undefined;
  #limit: NodeJS.Timeout | undefined;
  /** Why the process was killed. */
  #killed: string | undefined;
  #ended: Error | undefined;
  /** The line that has not ended yet. */
  #line: Buffer = Buffer.alloc(0);
  #hasHint = false;
  /** Whether the process is gone. Its last messages may still be unread. */
  #hasExited = false;

  private constructor({ command: [program, ...args], timeout }: ProcessOptions) {
    if (living.size === 0) process.once('exit', killAll);
    living.add(this);
    this.#timeout = timeout;
    this.#child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'], detached: true, windowsHide: true });
    this.#child.once('error', (cause: NodeJS.ErrnoException) => {
      if (this.#child.pid === undefined) this.#end(new NotStarted(cannotStart(program, cause), { cause }));
    });
    // The process may end before it has read all messages. Its end is reported as such.
    this.#child.stdin.on('error', () => {});
    this.#child.stdout.on('data', (bytes: Buffer) => this.#read(bytes));
    this.#child.once('exit', (code, signal) => {
      this.#hasExited = true;
      const end = (): void => this.#end(this.#endOf(code, signal));
      this.#child.once('close', end);
      setTimeout(() => {
        this.#signalGroup();
        end();
      }, OUTPUT_OPEN).unref();
    });
  }

  /**
   * Starts the program, and waits for its message `ready`. Kills it if the signal aborts before.
   * @throws CommandFailure if the program cannot start, or ends before it is ready
   */
  static async start(options: ProcessOptions, signal: AbortSignal): Promise<WorkerProcess> {
    const started = new WorkerProcess(options);
    const onStop = (): void => started.kill('was killed, because this command stops');
    if (signal.aborted) onStop();
    signal.addEventListener('abort', onStop);
    try {
      const { type } = await started.next();
      return type === 'ready' ? started : await started.breach(`sent ${type}`);
    } catch (cause) {
      if (!(cause instanceof WorkerEnded)) throw cause;
      throw new NotStarted(`${cause.message} (before its first message, {"type":"ready"})`, { cause });
    } finally {
      signal.removeEventListener('abort', onStop);
    }
  }

  get isLiving(): boolean {
    return !this.#hasExited && this.#ended === undefined && this.#killed === undefined;
  }

  send(message: ToWorker): void {
    this.hasAnswered = false;
    if (this.isLiving) this.#child.stdin.write(`${JSON.stringify(message)}\n`);
  }

  /**
   * The next message other than `alive`. Kills the process if it sends none for `timeout`.
   * @throws WorkerEnded
   */
  async next(): Promise<FromWorker> {
    const message = this.#inbox.shift();
    if (message) return message;
    if (this.#ended) throw this.#ended;
    this.#asked = Promise.withResolvers();
    this.#listen();
    return this.#asked.promise;
  }

  /** Asks the process to end its work. Kills it if it has not ended, or the work, `within` ms. */
  stop(reason?: 'draining' | 'lost', within = this.#timeout): void {
    this.send({ type: 'stop', ...(reason ? { reason } : {}) });
    this.#endWithin(within, `did not end ${within / 1_000} s after it was asked to stop, so it was killed`);
  }

  /** The process has ended the work that it was asked to stop. */
  goOn(): void {
    clearTimeout(this.#limit);
  }

  /** Closes the standard input, upon which the process is to exit. Resolves when it has ended. */
  async close(): Promise<void> {
    this.#child.stdin.end();
    const why = `did not exit ${this.#timeout / 1_000} s after its standard input was closed, so it was killed`;
    this.#endWithin(this.#timeout, why);
    await this.#over.promise;
  }

  kill(why: string): void {
    if (this.#ended) return;
    this.#killed ??= why;
    this.#signalGroup();
  }

  /** Kills a process that does not follow the protocol. @throws WorkerEnded */
  async breach(what: string): Promise<never> {
    this.kill(`${what}, which the protocol does not allow, so it was killed`);
    await this.#over.promise;
    throw this.#ended;
  }

  #endWithin(within: Millis, why: string): void {
    clearTimeout(this.#limit);
    if (!this.#ended) this.#limit = setTimeout(() => this.kill(why), within);
  }

  #listen(): void {
    clearTimeout(this.#silence);
    const why = `sent no message for ${this.#timeout / 1_000} s, so it was killed. During long work, let it send {"type":"alive"}, or choose a longer --timeout`;
    this.#silence = setTimeout(() => this.kill(why), this.#timeout);
  }

  #read(bytes: Buffer): void {
    let from = 0;
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, from)) {
      this.#take(Buffer.concat([this.#line, bytes.subarray(from, end)]));
      this.#line = Buffer.alloc(0);
      from = end + 1;
    }
    this.#line = Buffer.concat([this.#line, bytes.subarray(from)]);
    if (this.#line.length > LINE_MAX) this.kill(`wrote a line of more than ${LINE_MAX} bytes, so it was killed`);
  }

  #take(line: Buffer): void {
    const text = line.toString().trim();
    // A killed process has no say any more: its work may be with another process.
    if (text === '' || this.#killed !== undefined) return;
    const read = readLine(line);
    if (read.is !== 'other') this.hasAnswered = true;
    if (read.is === 'other') this.#pass(text);
    else if (read.is === 'faulty')
      this.kill(`sent a faulty message (${read.problem}), so it was killed: ${short(text)}`);
    else if (read.message.type === 'alive') {
      if (this.#asked) this.#listen();
    } else if (this.#asked) {
      this.#asked.resolve(read.message);
      this.#settle();
    } else if (this.#inbox.push(read.message) > UNREAD_MAX)
      this.kill('sent messages without waiting for answers, so it was killed');
  }

  #pass(line: string): void {
    console.error(short(line));
    if (this.#hasHint) return;
    this.#hasHint = true;
    console.error(
      '(The line above is not a protocol message. Standard output is for messages only: print other text to standard error.)',
    );
  }

  #settle(): void {
    this.#asked = undefined;
    clearTimeout(this.#silence);
  }

  #endOf(code: number | null, signal: NodeJS.Signals | null): WorkerEnded {
    if (this.#killed !== undefined) return new WorkerEnded(this.#killed);
    return signal === null
      ? new WorkerEnded(`ended with exit status ${code}`, code === 0)
      : new WorkerEnded(`was ended by ${signal}`);
  }

  #end(how: Error): void {
    if (this.#ended) return;
    this.#take(this.#line);
    this.#ended = how;
    clearTimeout(this.#limit);
    living.delete(this);
    if (living.size === 0) process.off('exit', killAll);
    this.#asked?.reject(how);
    this.#settle();
    this.#over.resolve();
  }

  #signalGroup(): void {
    const { pid } = this.#child;
    if (pid === undefined) return;
    try {
      // Windows has no process groups.
      if (process.platform === 'win32') this.#child.kill('SIGKILL');
      else process.kill(-pid, 'SIGKILL');
    } catch {
      // The group has ended.
    }
  }
}

const short = (line: string): string => printable(line.length > SHOWN ? `${line.slice(0, SHOWN)} …` : line);

const cannotStart = (program: string, cause: NodeJS.ErrnoException): string => {
  switch (cause.code) {
    case 'ENOENT':
      return `cannot start ${program}: there is no such program, or the current folder is gone. Give a program on the PATH, or its path such as ./worker`;
    case 'EACCES':
      return `cannot start ${program}: it is not executable. Name its interpreter too (python3 ${program}), or make it executable (chmod +x)`;
    default:
      return `cannot start ${program}: ${reasonOf(cause)}`;
  }
};
