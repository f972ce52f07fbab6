/** Services that are short of capacity: they do only a part of each request, and answer as AWS does. */
import type { BatchStatementErrorCodeEnum } from '@aws-sdk/client-dynamodb';
import type { AwsClients } from '../../src/aws/clients.ts';

/** A part of a request: a statement, a key, a write or a message. */
export type Entry = object;

/** The fate of an entry that the service does not report as done. */
interface Trouble {
  /** The code for a statement or a message. */
  readonly code: BatchStatementErrorCodeEnum | 'ServiceUnavailable' | 'InvalidMessageContents';
  /** The statement is done, but its answer is lost. */
  readonly isDone?: true;
  /** The message must never be sent again. */
  readonly isSendersFault?: true;
}

/** @param time how often this entry was requested, including this time */
export type TroubleOf = (entry: Entry, time: number) => Trouble | undefined;

interface Troubled {
  readonly entry: Entry;
  readonly trouble: Trouble | undefined;
}

/** How a kind of request carries its entries, and how its answer lists those that were not done. */
interface Shape {
  entries(input: Fields): readonly Entry[];
  /** The request with only some of its entries. */
  of(input: Fields, entries: readonly Entry[]): Fields;
  /** @param output the engine's answer for the entries that were sent */
  answer(output: Fields, all: readonly Troubled[], input: Fields): Fields;
}
type Fields = Readonly<Record<string, unknown>>;

const isSent = ({ trouble }: Troubled): boolean => trouble === undefined || trouble.isDone === true;
const heldIn = (all: readonly Troubled[]): Entry[] => all.filter((each) => !isSent(each)).map(({ entry }) => entry);

/** The table and the entries of a request. The tests send requests to one table each. */
const tableOf = (input: Fields): [table: string, asked: unknown] =>
  Object.entries(input.RequestItems as Fields)[0] as [string, unknown];

const SHAPES: Readonly<Record<string, Shape>> = {
  BatchExecuteStatementCommand: {
    entries: ({ Statements }) => Statements as Entry[],
    of: (input, Statements) => ({ ...input, Statements }),
    answer: (output, all) => {
      const answers = [...((output.Responses as object[] | undefined) ?? [])];
      const Responses = all.map((each) => {
        const answer = isSent(each) ? answers.shift() : undefined;
        const { code: Code } = each.trouble ?? {};
        return Code ? { Error: { Code, Message: `said to be ${Code}` } } : answer;
      });
      return { ...output, Responses };
    },
  },
  BatchGetItemCommand: {
    entries: (input) => (tableOf(input)[1] as { Keys: Entry[] }).Keys,
    of: (input, Keys) => {
      const [table, asked] = tableOf(input);
      return { RequestItems: { [table]: { ...(asked as object), Keys } } };
    },
    answer: (output, all, input) => {
      const [table, asked] = tableOf(input);
      const Keys = heldIn(all);
      return { ...output, UnprocessedKeys: Keys.length > 0 ? { [table]: { ...(asked as object), Keys } } : {} };
    },
  },
  BatchWriteItemCommand: {
    entries: (input) => tableOf(input)[1] as Entry[],
    of: (input, writes) => ({ RequestItems: { [tableOf(input)[0]]: writes } }),
    answer: (output, all, input) => {
      const held = heldIn(all);
      return { ...output, UnprocessedItems: held.length > 0 ? { [tableOf(input)[0]]: held } : {} };
    },
  },
  SendMessageBatchCommand: {
    entries: ({ Entries }) => Entries as Entry[],
    of: (input, Entries) => ({ ...input, Entries }),
    answer: (output, all) => ({
      ...output,
      Failed: all.flatMap(({ entry, trouble }) =>
        trouble
          ? [
              {
                Id: (entry as { Id: string }).Id,
                Code: trouble.code,
                Message: `said to be ${trouble.code}`,
                SenderFault: trouble.isSendersFault === true,
              },
            ]
          : [],
      ),
    }),
  },
};

interface Overload {
  /** How often each entry was requested, by its JSON text. */
  readonly times: ReadonlyMap<string, number>;
  end(): void;
}

/** Makes the clients do only a part of each batch request. */
export const overload = ({ dynamodb, sqs }: AwsClients, troubleOf: TroubleOf): Overload => {
  const times = new Map<string, number>();
  const timeOf = (entry: Entry): number => {
    const text = JSON.stringify(entry);
    const time = (times.get(text) ?? 0) + 1;
    times.set(text, time);
    return time;
  };
  const meddle =
    <Args extends { readonly input: object }, Answer extends { readonly output: object }>(
      next: (args: Args) => Promise<Answer>,
      { commandName }: { readonly commandName?: string },
    ) =>
    async (args: Args): Promise<Answer> => {
      const shape = SHAPES[String(commandName)];
      if (!shape) return next(args);
      const input = args.input as Fields;
      const all = shape.entries(input).map((entry): Troubled => ({ entry, trouble: troubleOf(entry, timeOf(entry)) }));
      const sent = all.filter(isSent).map(({ entry }) => entry);
      const answer =
        sent.length > 0
          ? await next({ ...args, input: shape.of(input, sent) })
          : ({ output: {}, response: {} } as unknown as Answer);
      return { ...answer, output: shape.answer(answer.output as Fields, all, input) };
    };
  dynamodb.middlewareStack.add(meddle as never, { step: 'initialize', name: 'overload' });
  sqs.middlewareStack.add(meddle as never, { step: 'initialize', name: 'overload' });
  return {
    times,
    end: () => {
      dynamodb.middlewareStack.remove('overload');
      sqs.middlewareStack.remove('overload');
    },
  };
};

/** Throttles the next requests as a whole, below the retries of the SDK. */
export const throttle = ({ dynamodb, sqs }: AwsClients, requests: number): void => {
  let left = requests;
  const meddle =
    <Args, Answer>(next: (args: Args) => Promise<Answer>) =>
    async (args: Args): Promise<Answer> => {
      if (left === 0) return next(args);
      left -= 1;
      const code = { name: 'ThrottlingException', $fault: 'client', $metadata: { httpStatusCode: 400 } };
      throw Object.assign(new Error('Rate exceeded'), code);
    };
  const within = { step: 'finalizeRequest', priority: 'low', name: 'throttle', override: true } as const;
  dynamodb.middlewareStack.add(meddle as never, within);
  sqs.middlewareStack.add(meddle as never, within);
};
