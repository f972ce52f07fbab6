/** What a step receives in a test: real stores, queues that record what is sent, and a clock that stands still. */

import type {
  BatchMessage,
  ElectMessage,
  GrantMessage,
  GroupMessage,
  ResumeMessage,
} from '../../src/domain/batches/messages.ts';
import type { CallbackMessage } from '../../src/domain/callbacks/callback.ts';
import type { Config } from '../../src/domain/config/resolved.ts';
import type { Answer, Call } from '../../src/domain/downstream/downstream.ts';
import type { FlowEvent } from '../../src/domain/events/events.ts';
import type { Token } from '../../src/domain/ids.ts';
import type { RulesMode } from '../../src/domain/producers/rules.ts';
import type { Sender } from '../../src/domain/producers/sender.ts';
import type { Rejection } from '../../src/domain/register/rejection.ts';
import type { Audit } from '../../src/ports/audit.ts';
import type { Shares } from '../../src/ports/callbacks.ts';
import type { Fleets } from '../../src/ports/fleets.ts';
import type { PatrolMark } from '../../src/ports/locks.ts';
import type { Delivery } from '../../src/ports/machine.ts';
import type { Backlog, Backlogs, DeadLetter, DeadLetterQueue, SourceQueue } from '../../src/ports/queues.ts';
import type { Deps } from '../../src/steps/deps.ts';
import { rememberedItemKeys } from '../../src/steps/fan-outs/item-keys.ts';
import { aConfig, NOW } from '../factories/factories.ts';
import type { Stores } from '../ports/stores.ts';

/** A message sent with a delay. */
type Delayed<Message> = Message & { readonly delay: number };

export interface StepKit extends Deps {
  /** A step does not need these; the API does. */
  readonly fleets: Fleets;
  readonly audit: Audit;
  readonly shares: Shares;
  readonly backlogs: Backlogs;
  readonly backlog: Record<SourceQueue, Backlog>;
  now: number;
  /** The time limit, in milliseconds, that was given to the latest piece of limited work. */
  limit: number;
  readonly sent: {
    readonly registered: string[];
    /** The senders of these messages. */
    readonly senders: (Sender | undefined)[];
    readonly elect: ElectMessage[];
    readonly resume: Delayed<ResumeMessage>[];
    readonly grant: Delayed<GrantMessage>[];
    readonly group: Delayed<GroupMessage>[];
    readonly batch: Delayed<BatchMessage>[];
    readonly rejected: Rejection[];
    readonly callbacks: CallbackMessage[];
    readonly givenUp: string[];
    readonly revived: { queue: SourceQueue; deadLetter: DeadLetter; delay: number }[];
  };
  readonly letters: Record<DeadLetterQueue, DeadLetter[]>;
  readonly calls: Call[];
  readonly events: FlowEvent[];
  /** The downstream's answers, call by call. The last one answers all further calls. */
  answers: Answer[];
  /** Whether the stage enforces the rules of producers. */
  mode: RulesMode;
  /** The value that the machine's `random` returns. */
  chance: number;
}

const EMPTY: Backlog = { waiting: 0, inFlight: 0, delayed: 0 };
export const PLENTY: Delivery = { timeLeft: () => 20_000, messageId: 'message', deliveries: 1 };

export const stepKit = (stores: Stores, config: Config = aConfig()): StepKit => {
  let tokens = 0;
  let mark: PatrolMark | undefined;
  const kit: StepKit = {
    config,
    tasks: stores.tasks,
    waiting: stores.waiting,
    locks: stores.locks,
    batches: stores.batches,
    operations: stores.operations,
    // The store's clock is that of the test.
    buckets: { ...stores.buckets, now: () => kit.now },
    fanOuts: stores.fanOuts,
    lists: stores.lists,
    fleets: stores.fleets,
    audit: stores.audit,
    shares: stores.shares,
    now: NOW,
    limit: Number.POSITIVE_INFINITY,
    chance: 0.5,
    sent: {
      registered: [],
      senders: [],
      elect: [],
      resume: [],
      grant: [],
      group: [],
      batch: [],
      rejected: [],
      callbacks: [],
      givenUp: [],
      revived: [],
    },
    letters: { register: [], elect: [], group: [], batch: [], callback: [], rejected: [], 'given-up': [] },
    calls: [],
    events: [],
    answers: [{ kind: 'all-succeeded' }],
    queues: {
      register: async (bodies, sender) => {
        kit.sent.registered.push(...bodies);
        kit.sent.senders.push(...bodies.map(() => sender));
      },
      elect: async (messages) => void kit.sent.elect.push(...messages),
      resume: async (message, delay) => void kit.sent.resume.push({ ...message, delay }),
      grant: async (message, delay) => void kit.sent.grant.push({ ...message, delay }),
      group: async (message, delay) => void kit.sent.group.push({ ...message, delay }),
      batch: async (message, delay) => void kit.sent.batch.push({ ...message, delay }),
      reject: async (rejections) => void kit.sent.rejected.push(...rejections),
      callbacks: async (messages) => void kit.sent.callbacks.push(...messages),
      giveUp: async (bodies) => void kit.sent.givenUp.push(...bodies),
    },
    machine: {
      now: () => kit.now,
      sleep: async (duration) => {
        kit.now += duration;
      },
      within: async (limit, work) => {
        kit.limit = limit;
        return work();
      },
      random: () => kit.chance,
      token: () => {
        tokens += 1;
        return `token-${tokens}` as Token;
      },
    },
    powers: {
      producers: config.producers ?? {},
      mode: async () => kit.mode,
      itemKeys: rememberedItemKeys(stores.fanOuts),
    },
    mode: 'enforce',
    report: (event) => void kit.events.push(event),
    downstreamOf: () => ({
      call: async (call) => {
        kit.calls.push(call);
        return kit.answers[Math.min(kit.calls.length, kit.answers.length) - 1] as Answer;
      },
    }),
    deadLetters: {
      receive: async (queue) => kit.letters[queue].slice(0, 10),
      release: async () => {},
      redrive: async (queue, deadLetter, delay) => `sent-${kit.sent.revived.push({ queue, deadLetter, delay })}`,
      remove: async (queue, { receipt }) => {
        kit.letters[queue] = kit.letters[queue].filter((each) => each.receipt !== receipt);
      },
      count: async (queue) => kit.letters[queue].length,
    },
    backlog: { register: EMPTY, elect: EMPTY, group: EMPTY, batch: EMPTY, callback: EMPTY },
    backlogs: { of: async (queue) => kit.backlog[queue] },
    patrolMarks: {
      read: async () => mark,
      write: async (next) => {
        mark = next;
      },
    },
  };
  return kit;
};
