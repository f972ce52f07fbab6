/** `groupage fan-out add` and `ack`: any number of items, of which no more than some thousands are held. */
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { ulid } from 'ulid';
import type { ZodMiniType } from 'zod/mini';
import type { Ask } from '../../../../src/client/ask.ts';
import {
  type Acked,
  type AddedGroup,
  ackInCalls,
  addInCalls,
  type DoneItem,
  itemsOf,
  NotAllAcked,
} from '../../../../src/client/fan-out-calls.ts';
import { ITEM_ID_RULE, parseItemId } from '../../../../src/domain/fan-out-ids.ts';
import { CommandFailure, WrongUsage } from '../../../failure.ts';
import { complain, green, plural, printable, printJson } from '../../../terminal.ts';
import { ACKED, ADDED } from '../../shared/answers.ts';
import { type ApiClient, isRefused } from '../../shared/api-client.ts';
import { type CommonOptions, connect, toSameApi } from '../../shared/connect.ts';
import { orInterrupted } from '../../shared/progress.ts';
import { groupsTable } from './show.ts';

interface AddOptions extends CommonOptions {
  readonly token?: string;
  readonly items?: boolean;
}

const asking =
  (api: ApiClient): Ask =>
  async (path, body) => {
    const shape: ZodMiniType<object> = path.endsWith('/acks') ? ACKED : ADDED;
    return (await api.post(path, JSON.stringify(body), shape)).value;
  };

export const addItems = async (id: string, count: number, options: AddOptions): Promise<void> => {
  const { token = ulid(), items = false, json = false } = options;
  if (items && json) throw new WrongUsage('--items prints plain lines: leave --json out, or --items');
  const ask = asking(await connect(options));
  const again = `to add these, and none twice: groupage fan-out add ${id} ${count}${items ? ' --items' : ''} --token ${JSON.stringify(token)}${toSameApi(options)}`;
  // Items that nobody was given nobody acks. Whoever had enough of them (`--items | head`) ends it as Ctrl-C does.
  const interrupted = (): void => console.error(printable(`interrupted; items may have been added; ${again}`));
  const added = addInCalls(ask, id, count, token);
  try {
    if (items) return await orInterrupted(interrupted, () => printLines(itemsOf(id, added)));
    const groups: AddedGroup[] = [];
    await orInterrupted(interrupted, async () => {
      for await (const some of added) groups.push(...some);
    });
    const said = `${plural(count, 'item')} added to ${printable(id)}`;
    console.log(json ? printJson(JSON.stringify({ groups, token })) : `${said}\n\n${groupsTable(id, groups)}`);
  } catch (cause) {
    if (!(cause instanceof CommandFailure) || isRefused(cause)) throw cause;
    throw new CommandFailure(`${cause.message}\nWhether items were added is not known; ${again}`);
  }
};

/** As fast as they are read, so that whoever stops reading stops the adding. */
const printLines = async (lines: AsyncIterable<string>): Promise<void> => {
  let text = '';
  const flush = async (): Promise<void> => {
    if (text !== '' && !process.stdout.write(text)) await once(process.stdout, 'drain');
    text = '';
  };
  for await (const line of lines) {
    text += `${line}\n`;
    if (text.length > 16_384) await flush();
  }
  await flush();
};

interface AckOptions extends CommonOptions {
  readonly failed?: boolean;
}

export const ackItems = async (items: readonly string[], options: AckOptions): Promise<void> => {
  if (items.length === 0 && process.stdin.isTTY)
    throw new WrongUsage('give ids of items, or have them on the standard input, one a line');
  const outcome = options.failed ? 'failed' : 'succeeded';
  const send = asking(await connect(options));
  let isSent = false;
  const ask: Ask = (path, body) => {
    isSent = true;
    return send(path, body);
  };
  let acked = 0;
  const soFar = (): string => `${plural(acked, 'item was', 'items were')} acked; all of them can be acked again`;
  const isLive = process.stderr.isTTY;
  const onProgress = (count: number): void => {
    acked = count;
    if (isLive) process.stderr.write(`\r${plural(count, 'item')} acked`);
  };
  try {
    const all = done(items.length > 0 ? given(items) : linesOfInput(), outcome);
    const answer = await orInterrupted(
      () => console.error(`${isLive ? '\n' : ''}${soFar()}`),
      () => ackInCalls(ask, all, onProgress),
    );
    if (isLive) process.stderr.write('\r\u001b[K');
    report(answer, acked, options);
  } catch (thrown) {
    const cause = thrown instanceof NotAllAcked ? thrown.cause : thrown;
    if (isLive && acked > 0) process.stderr.write('\n');
    // Where the one call that was made got no answer nobody knows.
    if (!(cause instanceof CommandFailure) || (isSent && acked === 0)) throw cause;
    throw new CommandFailure(`${cause.message}\n${isSent ? soFar() : 'nothing was acked'}`);
  }
};

/** With the place of what is no item, which the answer to it would not know. */
async function* done(
  items: Iterable<readonly [string, string]> | AsyncIterable<readonly [string, string]>,
  outcome: 'succeeded' | 'failed',
): AsyncGenerator<DoneItem> {
  for await (const [item, place] of items) {
    if (!parseItemId(item)) throw new CommandFailure(`${place}${JSON.stringify(item.slice(0, 200))} ${ITEM_ID_RULE}`);
    yield { item, outcome };
  }
}

const given = (items: readonly string[]) => items.map((item) => [item, ''] as const);

async function* linesOfInput(): AsyncGenerator<readonly [string, string]> {
  let number = 0;
  for await (const line of createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY })) {
    number += 1;
    if (line.trim() !== '') yield [line.trim(), `line ${number}: `];
  }
}

const report = ({ fanOuts, unknown }: Acked, acked: number, { json }: CommonOptions): void => {
  if (json) console.log(printJson(JSON.stringify({ acked: acked - unknown.length, fanOuts, unknown })));
  else {
    console.log(`${plural(acked - unknown.length, 'item')} acked`);
    for (const { id, complete, userKey } of fanOuts)
      console.log(
        `${printable(id)} is ${complete ? `${green('complete')}${userKey === undefined ? '' : printable(` (${userKey})`)}` : 'not complete yet'}`,
      );
    complain(unknown.map((item) => `${item} is unknown`));
  }
  if (unknown.length > 0) process.exitCode = 1;
};
