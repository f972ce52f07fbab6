/** The attributes into which the stores write a row's expiry. A noting client records the writes. */
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { dynamoDBAudit } from '../../../src/aws/dynamodb-audit.ts';
import { dynamoDBBatches } from '../../../src/aws/dynamodb-batches.ts';
import { dynamoDBFleets } from '../../../src/aws/dynamodb-fleets.ts';
import { dynamoDBLocks } from '../../../src/aws/dynamodb-locks.ts';
import { dynamoDBTasks } from '../../../src/aws/dynamodb-tasks.ts';
import { batchId, id, NOW, target, token } from '../../factories/factories.ts';
import { aNode, fleet } from '../../factories/fleets.ts';

const KEEP = 12_345_000;
/** The range of an expiry, in seconds. The upper bound allows for lock rows, which outlive their batches. */
const EARLIEST = (NOW + KEEP) / 1_000;
const LATEST = EARLIEST + 365 * 24 * 3_600;

interface Write {
  readonly text: string;
  readonly values: readonly (readonly [placeholder: string, value: unknown])[];
}

/** A client that records each write instead of sending it. */
const notingClient = () => {
  const writes: Write[] = [];
  const send = async ({ input }: { input: Record<string, unknown> }): Promise<object> => {
    const {
      Statements = [],
      UpdateExpression,
      ExpressionAttributeValues = {},
      Item,
    } = input as {
      Statements?: { Statement: string; Parameters: unknown[] }[];
      UpdateExpression?: string;
      ExpressionAttributeValues?: Record<string, unknown>;
      Item?: Record<string, unknown>;
    };
    if (UpdateExpression) writes.push({ text: UpdateExpression, values: Object.entries(ExpressionAttributeValues) });
    const put = Object.entries(Item ?? {}).map(([name, value]) => [`:${name}`, value] as const);
    if (Item) writes.push({ text: put.map(([name]) => `${name.slice(1)} = ${name}`).join(), values: put });
    for (const { Statement: text, Parameters } of Statements)
      writes.push({
        text: text.replace(/^.* SET /, ''),
        values: Parameters.map((value, index) => [`?${index}`, value] as const),
      });
    return { Responses: Statements.map(() => ({})) };
  };
  return { client: { send, config: { systemClockOffset: 0 } } as unknown as DynamoDBDocumentClient, writes };
};

/** The attributes that get a value in the range of an expiry. */
const expiriesIn = (writes: readonly Write[]): string[] => [
  ...new Set(
    writes.flatMap(({ text, values }) => {
      let parameter = 0;
      const numbered = text.replaceAll('?', () => `?${parameter++}`);
      const ends = values.filter(([, value]) => typeof value === 'number' && value >= EARLIEST && value <= LATEST);
      return [...numbered.matchAll(/"?(\w+)"?\s*=\s*([:?]\w+)/g)].flatMap(([, attribute = '', placeholder]) =>
        ends.some(([name]) => name === placeholder) ? [attribute] : [],
      );
    }),
  ),
];

/** The expiry attributes by the kind of row. */
export const expiryAttributes = async (): Promise<
  Record<'tasks' | 'payloads' | 'locks' | 'batches' | 'nodes' | 'auditEntries', string[]>
> => {
  const batch = { id: batchId('b'), target: target('ship/depot=MUC'), attempts: 1, at: NOW, keep: KEEP };
  const payloadRow = { payloadHash: 'h', run: 1 };
  const writesOf = async (write: (client: DynamoDBDocumentClient) => Promise<unknown>): Promise<Write[]> => {
    const { client, writes } = notingClient();
    await write(client);
    return writes;
  };
  const finished = await writesOf((client) =>
    dynamoDBTasks(client, 'T').finish([{ id: id('a'), payloadRow, outcome: { status: 'succeeded' } }], batch),
  );
  const locked = await writesOf((client) => {
    const lock = { fence: 1, token: token('t'), seen: { fence: 0 }, now: NOW, until: NOW + 1 };
    return dynamoDBLocks(client, 'L', () => KEEP).acquire(batch.target, lock as never);
  });
  const batched = await writesOf((client) => {
    const end = { status: 'succeeded', counts: { succeeded: 1, failed: 0 }, at: NOW, keep: KEEP } as const;
    return dynamoDBBatches(client, 'B').finish(batch.id, 1, end);
  });
  const beaten = await writesOf((client) => dynamoDBFleets(client, 'F').beat(fleet('f'), aNode({ beat: 1 })));
  const audited = await writesOf((client) => {
    const entry = { at: NOW, id: 'e', action: 'pause', subject: {}, actor: { id: 'local' } } as const;
    return dynamoDBAudit(client, 'A', KEEP).begin(entry);
  });
  return {
    tasks: expiriesIn(finished.slice(0, 1)),
    payloads: expiriesIn(finished.slice(1)),
    locks: expiriesIn(locked),
    batches: expiriesIn(batched),
    nodes: expiriesIn(beaten),
    auditEntries: expiriesIn(audited),
  };
};
