/**
 * The local SQS: fauxqs in this thread, on the loopback address, its messages kept on disk.
 *
 * fauxqs' own `startFauxqs` keeps messages too, but listens on all addresses and waits for the disk at every message.
 * So its parts are put together here. They are not among the package's exports: its version is pinned, and
 * `test/local/sqs-engine.test.ts` holds it to what is needed (docs/decisions/0001).
 */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { buildApp } from 'fauxqs';
import { isOnPurpose, NOT_ON_PURPOSE } from '../http/callers.ts';
import { dataFailure, openFailure } from './data-file.ts';

export interface SqsServer {
  readonly endpoint: string;
  stop(): Promise<void>;
}

export interface SqsOptions {
  /** 0 for any free port. */
  readonly port: number;
  /** Where messages stay; in memory without it. */
  readonly folder?: string;
}

interface Queue {
  persistence: unknown;
  /** What can be received. */
  readonly messages: readonly unknown[];
  /** Long polls that wait for messages. */
  readonly pollWaiters: { readonly timer: NodeJS.Timeout; resolve(): void }[];
  isFifo(): boolean;
  dequeue(...args: unknown[]): unknown;
  notifyWaiters(): void;
}

interface Store {
  persistence: unknown;
  createQueue(...args: unknown[]): Queue;
  allQueues(): Iterable<Queue>;
}

interface Persistence {
  readonly db: DatabaseSync;
  transaction(work: () => void): void;
  loadSqsAndSns(sqs: Store, sns: unknown): void;
  close(): void;
}

/** What SQS takes in a body, negated. fauxqs forgets everything above U+FFFF, emoji among it. */
const REFUSED_BY_SQS = '[^\\t\\n\\r\\u0020-\\uD7FF\\uE000-\\uFFFD\\u{10000}-\\u{10FFFF}]';

type Stores = NonNullable<NonNullable<Parameters<typeof buildApp>[0]>['stores']>;

/** @throws StartFailure */
export const serveSqs = async ({ port, folder }: SqsOptions): Promise<SqsServer> => {
  const part = async <Class>(file: string, name: string): Promise<Class> =>
    ((await import(new URL(file, import.meta.resolve('fauxqs')).href)) as Record<string, Class>)[name] as Class;
  const [SqsStore, SnsStore, S3Store] = await Promise.all([
    part<new () => Store>('./sqs/sqsStore.js', 'SqsStore'),
    part<new () => unknown>('./sns/snsStore.js', 'SnsStore'),
    part<new () => unknown>('./s3/s3Store.js', 'S3Store'),
  ]);
  (await part<RegExp>('./sqs/sqsTypes.js', 'INVALID_MESSAGE_BODY_CHAR')).compile(REFUSED_BY_SQS, 'u');
  const stores = { sqsStore: new SqsStore(), snsStore: new SnsStore(), s3Store: new S3Store() };
  const createQueue = stores.sqsStore.createQueue.bind(stores.sqsStore);
  stores.sqsStore.createQueue = (...args) => wakeFewPolls(createQueue(...args));
  const persistence =
    folder === undefined ? undefined : await load(folder, stores, await part('./persistence.js', 'PersistenceManager'));
  const app = buildApp({ logger: false, stores: stores as unknown as Stores });
  if (persistence) app.addHook('preClose', () => persistence.close());
  // It would take a form from any web page, as SNS, and pass its text on to a queue.
  app.addHook('onRequest', async (request, reply) => {
    if (!isOnPurpose(request.headers, Number(new URL(endpoint).port)))
      await reply.code(403).send({ __type: 'AccessDeniedException', message: NOT_ON_PURPOSE });
  });
  const endpoint = await app.listen({ host: '127.0.0.1', port });
  return {
    endpoint,
    stop: async () => {
      await app.close();
    },
  };
};

/** Messages that a receive gets at the most. */
const RECEIVED_AT_ONCE = 10;

/**
 * fauxqs ends every long poll of a queue for each message, and all polls but one get nothing and begin anew: with twelve pollers
 * that was most of what a lone task cost this machine. As in SQS, as many polls end as the messages need.
 */
const wakeFewPolls = (queue: Queue): Queue => {
  const wakeAll = queue.notifyWaiters.bind(queue);
  let isAsked = false;
  queue.notifyWaiters = () => {
    if (queue.isFifo()) return wakeAll();
    if (isAsked) return;
    isAsked = true;
    // Messages that arrive in one request count together.
    queueMicrotask(() => {
      isAsked = false;
      for (let ready = queue.messages.length; ready > 0; ready -= RECEIVED_AT_ONCE) {
        const poll = queue.pollWaiters.shift();
        clearTimeout(poll?.timer);
        poll?.resolve();
      }
    });
  };
  return queue;
};

const load = async (
  folder: string,
  { sqsStore, snsStore }: { readonly sqsStore: Store; readonly snsStore: unknown },
  PersistenceManager: new (folder: string) => Persistence,
): Promise<Persistence> => {
  const createQueue = sqsStore.createQueue.bind(sqsStore);
  const persistence = readable(folder, PersistenceManager, (opened) => {
    sqsStore.createQueue = (...args) => receiveAtOnce(createQueue(...args), opened);
    opened.loadSqsAndSns(sqsStore, snsStore);
  });
  sqsStore.persistence = persistence;
  for (const queue of sqsStore.allQueues()) queue.persistence = persistence;
  return persistence;
};

/**
 * All that a request receives is written in one transaction: a dead letter is deleted from its queue and inserted into
 * the other, and a process that was killed in between would have lost it.
 */
const receiveAtOnce = (queue: Queue, persistence: Persistence): Queue => {
  const dequeue = queue.dequeue.bind(queue);
  queue.dequeue = (...args) => {
    let received: unknown;
    persistence.transaction(() => {
      received = dequeue(...args);
    });
    return received;
  };
  return queue;
};

const readable = (
  folder: string,
  PersistenceManager: new (folder: string) => Persistence,
  read: (persistence: Persistence) => void,
): Persistence => {
  const file = join(folder, 'fauxqs.db');
  const failure = dataFailure('queues', file);
  if (failure) throw failure;
  try {
    makeVisible(file);
    const persistence = new PersistenceManager(folder);
    // Writes survive this process at once and the machine a little later: three times as fast, and enough here.
    persistence.db.exec('PRAGMA synchronous = NORMAL');
    read(persistence);
    return persistence;
  } catch (cause) {
    throw openFailure('queues', file, cause);
  }
};

/** Who had received a message before this start is gone: nobody needs to wait for it. */
const makeVisible = (file: string): void => {
  if (!existsSync(file)) return;
  const db = new DatabaseSync(file);
  try {
    const isNew = db.prepare("SELECT 1 FROM sqlite_master WHERE name = 'sqs_messages'").get() === undefined;
    if (!isNew) db.exec('UPDATE sqs_messages SET receipt_handle = NULL, visibility_deadline = NULL');
  } finally {
    db.close();
  }
};
