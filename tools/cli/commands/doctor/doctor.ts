/** `groupage doctor`: is anything stuck, and what is to be done about it? */
import { Command } from 'commander';
import pLimit from 'p-limit';
import type * as z from 'zod/mini';
import type { Finding } from '../../../../src/api/doctor/responses.ts';
import type { DeadLetters } from '../../../../src/api/queues/responses.ts';
import type { Skipped } from '../../../../src/api/shared/answer-schemas.ts';
import { WrongUsage } from '../../../failure.ts';
import { ago, green, plural, printable, red } from '../../../terminal.ts';
import { BATCHES_EXAMINED, DEAD_LETTERS, TARGETS_EXAMINED } from '../../shared/answers.ts';
import { type ApiClient, ApiFailure } from '../../shared/api-client.ts';
import { type CommonOptions, connect } from '../../shared/connect.ts';
import { CONCURRENCY } from '../../shared/pages.ts';
import { lookAtSettings, type SettingsLook, settingsLines } from './settings.ts';

interface DoctorOptions extends CommonOptions {
  readonly deep?: boolean;
  readonly repair?: boolean;
}

/** Targets that the quick look goes through; whoever has more learns that these are not all. */
const QUICK = 1_000;

export const doctorCommand = (): Command =>
  new Command('doctor')
    .description('look for what is stuck or set wrongly, and what to do about it (exit status 1 if anything is)')
    .option('--deep', 'look at every Target and every stored batch, not only at dead letters and the first Targets')
    .option('--repair', 'with --deep: put right what is found')
    .action((options: DoctorOptions) => doctor(options));

const doctor = async (options: DoctorOptions): Promise<void> => {
  const { deep = false, repair = false, json } = options;
  if (repair && !deep) throw new WrongUsage('--repair goes with --deep: the quick look only looks');
  const api = await connect(options);
  const { queues, unseen } = await lettersOf(api);
  const lying = queues.filter(({ messages }) => messages > 0);
  const findings: Finding[] = [];
  const skipped: Skipped[] = [];
  const onFinding = (finding: Finding): void => {
    findings.push(finding);
    if (!json) console.log(findingLine(finding));
  };
  const onSkipped = (each: Skipped): void => {
    skipped.push(each);
    if (!json) console.log(red(printable(`✗ ${each.id}: could not be looked at → ${each.reason}`)));
  };
  if (!json) for (const { queue, messages } of lying) console.log(red(deadLettersLine(queue, messages)));
  const limit = deep ? Number.POSITIVE_INFINITY : QUICK;
  const looked = await lookAtSettings(options, api.url);
  const settings = { ...looked, unseen: [...unseen, ...looked.unseen] };
  const lines = settingsLines(settings);
  if (!json) for (const line of lines) console.log(red(printable(`✗ ${line}`)));
  const examined = await examine(api, { limit, batches: deep, repair, onFinding, onSkipped });
  if (!json)
    for (const { what, reason } of settings.unseen) console.log(printable(`? ${what} were not looked at: ${reason}`));
  const treated = findings.filter(isTreated).length;
  const wrong = unseen.length + lying.length + lines.length + skipped.length + findings.length - treated;
  console.log(
    json
      ? JSON.stringify({ ok: wrong === 0, deadLetters: queues, settings, findings, skipped, ...examined })
      : summary(examined, wrong, treated),
  );
  if (wrong > 0) process.exitCode = 1;
};

/** An API that fails at this, since a queue is gone, is no reason not to look at the rest: that may say which. */
const lettersOf = async (
  api: ApiClient,
): Promise<{ readonly queues: DeadLetters['queues']; readonly unseen: SettingsLook['unseen'] }> => {
  try {
    return { queues: (await api.get('/dead-letters', DEAD_LETTERS)).value.queues, unseen: [] };
  } catch (cause) {
    if (!(cause instanceof ApiFailure) || cause.status < 500) throw cause;
    return { queues: [], unseen: [{ what: 'dead letters', reason: cause.message }] };
  }
};

/** For how long the sweep goes on with a dead letter: an event's destination may be gone for good. */
const until = (queue: string): string => (queue === 'callback' ? ', for three days' : '');

const GIVEN_UP =
  'no destination took them for three days → see that it takes events again: docs/how-to/operate.md. Then groupage redrive --dead-letters given-up';

const deadLettersLine = (queue: string, messages: number): string =>
  queue === 'given-up'
    ? `✗ ${plural(messages, 'event was', 'events were')} given up: ${GIVEN_UP}`
    : queue === 'rejected'
      ? `✗ ${plural(messages, 'message was', 'messages were')} refused → read why, and mend it: docs/how-to/operate.md. To register those that would not be refused any more: groupage redrive --dead-letters rejected`
      : `✗ ${plural(messages, 'dead letter')} of ${queue} → the sweep sends them again, later and later${until(queue)}. At once: groupage redrive --dead-letters ${queue}`;

/** What was put right, or had changed by itself, is wrong no more. */
const isTreated = ({ repaired, reason }: Finding): boolean => repaired !== undefined && reason === undefined;

const findingLine = (finding: Finding): string => {
  const { repaired, reason, since } = finding;
  const found = printable(`${what(finding)}, since ${ago(since)}`);
  if (reason !== undefined) return red(`✗ ${found} → not repaired: ${printable(reason)}`);
  if (repaired === undefined) return red(`✗ ${found} → groupage doctor --deep --repair`);
  return green(`✓ ${found} → ${repaired ? done(finding) : 'had changed in the meantime'}`);
};

/** One that this version does not know is named by its word. */
const what = ({ finding, target, batchId, tasksWait }: Finding): string => {
  switch (finding) {
    case 'stranded':
      return `${target}: tasks wait and nobody leads`;
    case 'expired-lock':
      return `${target}: the leader is gone${tasksWait ? ', and tasks wait' : ''}`;
    case 'leaderless-batch':
      return `${target}: batch ${batchId} was begun and nobody leads`;
    case 'overdue-batch':
      return `${target}: batch ${batchId} is overdue, its message was lost or waits behind many others`;
    case 'forgotten':
      return `${target}: waits for room in its operation, which does not know of it`;
    case 'stuck-slot':
      return `${target}: batch ${batchId} is over and still counts as under way`;
    default:
      return `${target}: ${finding}`;
  }
};

/** One that this version does not know is named by its word. */
const done = ({ remedy }: Finding): string => {
  switch (remedy) {
    case undefined:
      return 'it was put right';
    case 'elect-message':
      return 'a leader was asked for';
    case 'batch-message':
      return 'a batch message was sent';
    case 'slot-freed':
      return 'its place is free';
    case 'lock-released':
      return 'its lock was released';
    default:
      return remedy;
  }
};

const summary = ({ targets, batches, isAll }: Examined, wrong: number, treated: number): string => {
  const all = [plural(targets, 'Target'), ...(batches === undefined ? [] : [plural(batches, 'batch', 'batches')])];
  const looked = `looked at ${isAll ? '' : 'the first '}${all.join(' and ')}${isAll ? '' : ' (--deep looks at all)'}`;
  const found = wrong > 0 ? plural(wrong, 'finding') : treated > 0 ? 'everything is put right' : 'nothing is wrong';
  return `${looked}: ${found}`;
};

/** How many were looked at. */
interface Examined {
  readonly targets: number;
  readonly batches?: number;
  /** Whether these were all Targets. */
  readonly isAll: boolean;
}

interface Walk {
  /** Targets at the most. */
  readonly limit: number;
  /** Whether to look at their batches too. */
  readonly batches: boolean;
  readonly repair: boolean;
  /** Is told of each as it is found: a long walk may be broken off. */
  readonly onFinding: (finding: Finding) => void;
  /** Likewise of each that could not be looked at. */
  readonly onSkipped: (skipped: Skipped) => void;
}

/** Walks through what the doctor looks at, page by page, so that no request runs long. */
const examine = async (api: ApiClient, walk: Walk): Promise<Examined> => {
  const atOnce = pLimit(CONCURRENCY);
  let [targets, batches] = [0, 0];
  let cursor: string | undefined;
  do {
    const page = await ask(api, walk, 'targets', TARGETS_EXAMINED, {}, cursor);
    cursor = page.cursor;
    targets += page.targets.length;
    const ofTargets = walk.batches ? page.targets : [];
    for (const looked of await atOnce.map(ofTargets, (target) => examineBatches(api, walk, target))) batches += looked;
  } while (cursor !== undefined && targets < walk.limit);
  return { targets, ...(walk.batches ? { batches } : {}), isAll: cursor === undefined };
};

/** Where the API fails at one Target's batches, the others are looked at all the same. @returns how many there were. */
const examineBatches = async (api: ApiClient, walk: Walk, target: string): Promise<number> => {
  let batches = 0;
  let cursor: string | undefined;
  try {
    do {
      const page = await ask(api, walk, 'batches', BATCHES_EXAMINED, { target }, cursor);
      cursor = page.cursor;
      batches += page.batches;
    } while (cursor !== undefined);
  } catch (cause) {
    if (!(cause instanceof ApiFailure) || cause.status < 500) throw cause;
    walk.onSkipped({ id: target, reason: `its batches: ${cause.message}` });
  }
  return batches;
};

interface Page {
  readonly findings: readonly Finding[];
  /** A stack of an earlier release skips nothing: it fails. */
  readonly skipped?: readonly Skipped[] | undefined;
}

const ask = async <Shape extends Page>(
  api: ApiClient,
  { repair, onFinding, onSkipped }: Walk,
  what: 'targets' | 'batches',
  shape: z.ZodMiniType<Shape>,
  query: Record<string, string>,
  cursor: string | undefined,
): Promise<Shape> => {
  const path = `/doctor/${what}?${new URLSearchParams({ ...query, ...(cursor === undefined ? {} : { cursor }) })}`;
  const { value } = await (repair ? api.post(path, '', shape) : api.get(path, shape));
  for (const finding of value.findings) onFinding(finding);
  for (const each of value.skipped ?? []) onSkipped(each);
  return value;
};
