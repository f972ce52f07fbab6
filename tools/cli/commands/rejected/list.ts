/** `groupage rejected`: the list of rejected messages. */
import { Command } from 'commander';
import { ago, cut, dim, printable, printJson, red } from '../../../terminal.ts';
import { LETTER_MESSAGES, type LetterMessageShape } from '../../shared/answers.ts';
import { count } from '../../shared/arguments.ts';
import { type CommonOptions, connect, toSameApi } from '../../shared/connect.ts';
import { givenUpOption, oneOf, type QueueOptions, queueOf } from './queue.ts';

interface ListOptions extends CommonOptions, QueueOptions {
  readonly limit: number;
}

/** Longest list that the API answers. */
const LIMIT_MAX = 50;
/** Longest part of a body that the list shows, in characters. `--json` shows more. */
const BODY_SHOWN = 160;

export const listCommand = (): Command =>
  new Command('list')
    .description('list rejected messages with the reasons, the oldest first')
    .option('--limit <n>', `maximum number of messages, at most ${LIMIT_MAX}`, count, 20)
    .addOption(givenUpOption())
    .action(list);

const list = async (options: ListOptions): Promise<void> => {
  const queue = queueOf(options);
  const api = await connect(options);
  const path = `/dead-letters/${queue}/messages?limit=${Math.min(options.limit, LIMIT_MAX)}`;
  const { text, value } = await api.get(path, LETTER_MESSAGES);
  if (options.json) return console.log(printJson(text));
  const { messages, note } = value;
  console.log(messages.length === 0 ? `no ${oneOf(queue)}s` : messages.map(described).join('\n\n'));
  if (messages.length > 0) console.log(dim(`\n${nextSteps(options, messages)}`));
  if (note !== undefined) console.error(printable(note));
};

const described = (message: LetterMessageShape): string => {
  const { id, messageId, reasons = [], reasonsInAll, since, operation, taskId, destination, sender } = message;
  const why = reasons.map(({ path, reason }) => red(printable(path === '' ? reason : `${path} ${reason}`)));
  const more = reasonsInAll === undefined ? [] : [`and ${reasonsInAll - reasons.length} more reasons`];
  const of = [
    ['since', `${since} (${ago(since)} ago)`],
    ['operation', operation],
    ['task', taskId],
    ['destination', destination],
    ['sender', sender],
    ['message', messageId],
    ['body', bodyOf(message)],
    ['redrive', message.wouldStay === undefined ? 'would be sent again' : `would stay: ${message.wouldStay}`],
  ] as const;
  return [
    ...(why.length > 0
      ? why
      : [printable(`no reason is stored${destination ? `: ${destination} did not accept it` : ''}`)]),
    ...more,
    ...[['id', id] as const, ...of].flatMap(([name, text]) =>
      text === undefined ? [] : [`  ${dim(name.padEnd(11))}  ${printable(text)}`],
    ),
  ].join('\n');
};

const bodyOf = ({ body, bodyIsCut, bodyBytes }: LetterMessageShape): string => {
  const line = body.replaceAll(/\s+/g, ' ');
  const shown = cut(line, BODY_SHOWN);
  const isWhole = shown.length === line.length && !bodyIsCut;
  return isWhole ? shown : `${shown}… (${bodyBytes === undefined ? '' : `${bodyBytes} bytes; `}more with --json)`;
};

const nextSteps = (options: ListOptions, messages: readonly LetterMessageShape[]): string => {
  const flags = `${options.givenUp ? ' --given-up' : ''}${toSameApi(options)}`;
  const id = messages[0]?.id ?? 'ID';
  return printable(
    `Fix the cause, then: groupage rejected redrive ${id} (or --all)${flags}. If a message is not needed: groupage rejected discard ${id}${flags}`,
  );
};
