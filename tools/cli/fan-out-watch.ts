/** `groupage fan-out watch ID`: a line that is drawn again on a terminal; a line for each change where there is none. */
import { setTimeout } from 'node:timers/promises';
import { pathOf } from '../../src/client/fan-out-calls.ts';
import { CommandFailure } from '../failure.ts';
import { type CommonOptions, FAN_OUT } from '../shapes.ts';
import { printable, printJson } from '../terminal.ts';
import { type ApiClient, ApiFailure } from './api-client.ts';
import { connect } from './connect.ts';
import { progressLine } from './fan-out-view.ts';
import { cut } from './watch-view.ts';

interface WatchOptions extends CommonOptions {
  readonly every: number;
}

const START_OF_LINE = '\r\u001b[K';

export const watchFanOut = async (id: string, { every, ...options }: WatchOptions): Promise<void> => {
  const api = await connect(options);
  const isLive = process.stdout.isTTY && !options.json;
  let shown = '';
  for (let isFirst = true; ; isFirst = false) {
    const from = performance.now();
    const answer = isFirst ? await look(api, id) : await lookAgain(api, id, isLive);
    if (answer) {
      const line = options.json ? printJson(answer.text) : progressLine(answer.value);
      if (isLive) process.stdout.write(`${START_OF_LINE}${cut(line, process.stdout.columns)}`);
      else if (line !== shown) console.log(line);
      shown = line;
      const { status } = answer.value;
      if (status === 'complete' || status === 'expired') {
        if (isLive) process.stdout.write(`${START_OF_LINE}${line}\n`);
        if (status === 'expired') process.exitCode = 1;
        return;
      }
    }
    // Looking must not become the work: a large one is counted for a while, and left alone for as long.
    await setTimeout(Math.max(every * 1_000, performance.now() - from));
  }
};

const look = (api: ApiClient, id: string) => api.get(pathOf(id), FAN_OUT);

/** A stack that is restarted or busy comes back; whoever does not know the fan-out any more does not. */
const lookAgain = async (api: ApiClient, id: string, isLive: boolean) => {
  try {
    return await look(api, id);
  } catch (cause) {
    const isFinal = cause instanceof ApiFailure && cause.status < 500 && cause.status !== 429;
    if (!(cause instanceof CommandFailure) || isFinal) throw cause;
    console.error(`${isLive ? START_OF_LINE : ''}${printable(cause.message)}; looking again …`);
    return undefined;
  }
};
