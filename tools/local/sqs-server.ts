/**
 * The local SQS: fauxqs in this thread, on the loopback address, with its messages on disk.
 *
 * fauxqs' own `startFauxqs` also stores messages, but listens on all addresses and waits for the disk at each message. So its
 * parts are assembled here. The package does not export them, so its version is pinned, and `test/local/sqs-engine.test.ts`
 * checks the parts (docs/decisions/0001).
 */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { buildApp } from 'fauxqs';
import { isOnPurpose, NOT_ON_PURPOSE } from '../http/callers.ts';
import { refuseOddRequests } from '../http/odd-requests.ts';
import { dataFailure, openFailure } from './data-file.ts';

export interface SqsServer {
  readonly endpoint: string;
  stop(): Promise<void>;
}

export interface SqsOptions {
  /** 0 means any free port. */
  readonly port: number;
  /** Folder for messages. If absent, messages are in memory. */
  readonly folder?: string;
}

interface Queue {
  persistence: unknown;
  /** Messages that can be received. */
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
  updateMessageReady(messageId: string): void;
  loadSqsAndSns(sqs: Store, sns: unknown): void;
  close(): void;
}

/** Characters that SQS refuses in a body. fauxqs would also refuse characters above U+FFFF, such as emoji. */
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
  // Without this check, the SNS part would accept a form of any web page and send its text to a queue.
  app.addHook('onRequest', async (request, reply) => {
    if (!isOnPurpose(request.headers, Number(new URL(endpoint).port)))
      await reply.code(403).send({ __type: 'AccessDeniedException', message: NOT_ON_PURPOSE });
  });
  refuseOddRequests(app.server);
  const endpoint = await app.listen({ host: '127.0.0.1', port });
  return {
    endpoint,
    stop: async () => {
      await app.close();
    },
  };
};

/** Maximum number of messages that one receive request returns. */
const RECEIVED_AT_ONCE = 10;

/**
 * Ends only as many long polls as there are messages for, as SQS does. fauxqs ends all long polls of a queue for each
 * message. All but one of these polls return nothing and start again. With twelve pollers, this takes most of the
 * processor time of a single task.
 */
const wakeFewPolls = (queue: Queue): Queue => {
  const wakeAll = queue.notifyWaiters.bind(queue);
  let isAsked = false;
  queue.notifyWaiters = () => {
    if (queue.isFifo()) return wakeAll();
    if (isAsked) return;
    isAsked = true;
    // Wait until all messages of the request have arrived.
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
 * Writes all changes of a receive in one transaction. A dead letter is deleted from one queue and inserted into another, and
 * would be lost if the process were killed in between.
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
    // Writes survive a crash of the process, but not always of the machine. This is three times as fast and sufficient here.
    persistence.db.exec('PRAGMA synchronous = NORMAL');
    releaseMessages(persistence);
    read(persistence);
    return persistence;
  } catch (cause) {
    throw openFailure('queues', file, cause);
  }
};

/**
 * Lets a receiver make a message visible again at once. fauxqs also sets the number of receives to null, which the table
 * refuses: the request fails, and the message is not received until the next start.
 */
const releaseMessages = (persistence: Persistence): void => {
  const ready = persistence.db.prepare(
    'UPDATE sqs_messages SET receipt_handle = NULL, visibility_deadline = NULL WHERE message_id = ?',
  );
  persistence.updateMessageReady = (messageId) => {
    ready.run(messageId);
  };
};

/** Makes all messages visible, because the receivers of the previous run have ended. */
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
