/** `groupage fan-out add` and `ack`. They stream the items, and hold a few thousand in memory at most. */
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
  if (items && json) throw new WrongUsage('--items prints plain lines and cannot be combined with --json');
  const ask = asking(await connect(options));
  const again = `To add all items without adding any item twice, run: groupage fan-out add ${id} ${count}${items ? ' --items' : ''} --token ${JSON.stringify(token)}${toSameApi(options)}`;
  // A closed pipe (`--items | head`) ends the command like Ctrl-C: items whose ids are not printed can never be acked.
  const interrupted = (): void =>
    console.error(printable(`Interrupted. Some of the items may have been added. ${again}`));
  const added = addInCalls(ask, id, count, token);
  try {
    if (items) return await orInterrupted(interrupted, () => printLines(itemsOf(id, added)));
    const groups: AddedGroup[] = [];
    await orInterrupted(interrupted, async () => {
      for await (const some of added) groups.push(...some);
    });
    const said = `${plural(count, 'item')} added to the fan-out ${printable(id)}`;
    const answer = { groups: groups.map(({ itemKey: _, ...group }) => group), itemKey: groups[0]?.itemKey, token };
    console.log(json ? printJson(JSON.stringify(answer)) : `${said}\n\n${groupsTable(id, groups)}`);
  } catch (cause) {
    if (!(cause instanceof CommandFailure) || isRefused(cause)) throw cause;
    throw new CommandFailure(`${cause.message}\nSome of the items may have been added. ${again}`);
  }
};

/** Prints lines only as fast as they are read, so that the command adds no items after the reader stops. */
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
    throw new WrongUsage('give the ids of items as arguments, or pipe them to standard input, one id per line');
  const outcome = options.failed ? 'failed' : 'succeeded';
  const send = asking(await connect(options));
  let isSent = false;
  const ask: Ask = (path, body) => {
    isSent = true;
    return send(path, body);
  };
  let acked = 0;
  const soFar = (): string =>
    `${plural(acked, 'item was', 'items were')} acked. To ack the rest, run the command again with all items: acking an item twice has no effect`;
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
    // The only call got no response, so whether it took effect is unknown.
    if (!(cause instanceof CommandFailure) || (isSent && acked === 0)) throw cause;
    throw new CommandFailure(`${cause.message}\n${isSent ? soFar() : 'no item was acked'}`);
  }
};

/** Checks each id here, because the API's error would not contain the line number. */
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
    complain(unknown.map((item) => `unknown item: ${item}`));
  }
  if (unknown.length > 0) process.exitCode = 1;
};
