/** `groupage doctor`: finds stuck work and wrong settings, and repairs stuck work. */
import { Command } from 'commander';
import pLimit from 'p-limit';
import type * as z from 'zod/mini';
import type { Finding } from '../../../../src/api/doctor/responses.ts';
import type { DeadLetters } from '../../../../src/api/queues/responses.ts';
import type { Skipped } from '../../../../src/api/shared/answer-schemas.ts';
import { WrongUsage } from '../../../failure.ts';
import { ago, green, plural, printable, printJson, red } from '../../../terminal.ts';
import { BATCHES_EXAMINED, DEAD_LETTERS, TARGETS_EXAMINED } from '../../shared/answers.ts';
import { type ApiClient, ApiFailure } from '../../shared/api-client.ts';
import { connectBecause, reasonOption, type WithReason } from '../../shared/connect.ts';
import { CONCURRENCY } from '../../shared/pages.ts';
import { lookAtSettings, type SettingsLook, settingsLines } from './settings.ts';
import { firstReasonOf, type PausedTarget, pausedTarget, stopsOf } from './stops.ts';

interface DoctorOptions extends WithReason {
  readonly deep?: boolean;
  readonly repair?: boolean;
}

/** Maximum number of Targets that the command checks without --deep. If there are more, the summary says so. */
const QUICK = 1_000;

export const doctorCommand = (): Command =>
  new Command('doctor')
    .description('find stuck work and wrong settings, with a remedy for each (exit status 1 if there is a finding)')
    .option(
      '--deep',
      'check every Target and every stored batch (default: dead letters, settings and the first 1,000 Targets)',
    )
    .option('--repair', 'with --deep: repair stuck work')
    .addOption(reasonOption())
    .action((options: DoctorOptions) => doctor(options));

const doctor = async (options: DoctorOptions): Promise<void> => {
  const { deep = false, repair = false, json } = options;
  if (repair && !deep) throw new WrongUsage('--repair needs --deep');
  if (options.reason !== undefined && !repair) throw new WrongUsage('--reason needs --repair');
  const api = await connectBecause(options);
  const [letters, stops] = [await lettersOf(api), await stopsOf(api)];
  const { queues } = letters;
  const notices = [...stops.notices];
  const unseen = [...letters.unseen, ...stops.unseen];
  const lying = queues.filter(({ messages }) => messages > 0);
  const firstReason = lying.some(({ queue }) => queue === 'rejected') ? await firstReasonOf(api) : undefined;
  const findings: Finding[] = [];
  const skipped: Skipped[] = [];
  const onFinding = (finding: Finding): void => {
    findings.push(finding);
    if (!json) console.log(findingLine(finding));
  };
  const onSkipped = (each: Skipped): void => {
    skipped.push(each);
    if (!json) console.log(red(printable(`✗ ${each.id}: could not be checked → ${each.reason}`)));
  };
  if (!json)
    for (const { queue, messages } of lying) console.log(red(printable(deadLettersLine(queue, messages, firstReason))));
  if (!json) for (const stop of stops.findings) console.log(red(printable(`✗ ${stop}`)));
  const limit = deep ? Number.POSITIVE_INFINITY : QUICK;
  const looked = await lookAtSettings(options, api.url);
  const settings = { ...looked, unseen: [...unseen, ...looked.unseen] };
  const lines = settingsLines(settings);
  if (!json) for (const line of lines) console.log(red(printable(`✗ ${line}`)));
  if (!json) for (const notice of notices) console.log(printable(`! ${notice}`));
  const onPaused = (each: PausedTarget): void => {
    const notice = pausedTarget(each);
    notices.push(notice);
    if (!json) console.log(printable(`! ${notice}`));
  };
  const examined = await examine(api, { limit, batches: deep, repair, onFinding, onSkipped, onPaused });
  if (!json)
    for (const { what, reason } of settings.unseen) console.log(printable(`? ${what} could not be checked: ${reason}`));
  const treated = findings.filter(isTreated).length;
  const wrong =
    unseen.length + lying.length + stops.findings.length + lines.length + skipped.length + findings.length - treated;
  console.log(
    json
      ? printJson(
          JSON.stringify({
            ok: wrong === 0,
            deadLetters: queues,
            stops: stops.findings,
            settings,
            notices,
            findings,
            skipped,
            ...examined,
          }),
        )
      : summary(examined, wrong, treated, notices.length),
  );
  if (wrong > 0) process.exitCode = 1;
};

/** If the API fails here, e.g. because a queue was deleted, check the rest anyway: the settings may show which one. */
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

/**
 * How long the sweep resends a dead letter. It gives up an event after three days, because the destination may never be
 * available again.
 */
const until = (queue: string): string => (queue === 'callback' ? ' for three days' : '');

const GIVEN_UP =
  'their destination did not accept them within three days → repair the destination (docs/how-to/operate.md), then: groupage redrive --dead-letters given-up';

/** @param firstReason why the oldest message of the rejected queue was rejected, if it could be read. */
const deadLettersLine = (queue: string, messages: number, firstReason: string | undefined): string =>
  queue === 'given-up'
    ? `✗ ${plural(messages, 'event was', 'events were')} given up: ${GIVEN_UP}`
    : queue === 'rejected'
      ? `✗ ${plural(messages, 'message was', 'messages were')} rejected, so ${messages === 1 ? 'its task is' : 'their tasks are'} not registered${firstReason === undefined ? '' : ` (${messages === 1 ? '' : 'the oldest: '}${firstReason})`} → read the reasons and correct the cause: groupage rejected. Then: groupage rejected redrive --all, or discard`
      : `✗ ${plural(messages, 'dead letter')} of the ${queue} queue → the sweep sends them again at growing intervals${until(queue)}. To send them now: groupage redrive --dead-letters ${queue}`;

/** Whether a finding was repaired, or was resolved before the repair. */
const isTreated = ({ repaired, reason }: Finding): boolean => repaired !== undefined && reason === undefined;

const findingLine = (finding: Finding): string => {
  const { repaired, reason, since } = finding;
  const found = printable(`${what(finding)} (for ${ago(since)})`);
  if (reason !== undefined) return red(`✗ ${found} → not repaired: ${printable(reason)}`);
  if (repaired === undefined) return red(`✗ ${found} → groupage doctor --deep --repair`);
  return green(`✓ ${found} → ${repaired ? done(finding) : 'had already been resolved before the repair'}`);
};

/** Describes a finding. A finding from a later release has no description here, so its code is shown. */
const what = ({ finding, target, batchId, tasksWait }: Finding): string => {
  switch (finding) {
    case 'stranded':
      return `${target}: tasks wait, but the Target has no leader`;
    case 'expired-lock':
      return `${target}: the leader's lease has expired${tasksWait ? ', and tasks wait' : ''}`;
    case 'leaderless-batch':
      return `${target}: batch ${batchId} is not sealed, and the Target has no leader`;
    case 'overdue-batch':
      return `${target}: batch ${batchId} is overdue because its message was lost or waits behind many others`;
    case 'forgotten':
      return `${target}: the Target waits for a free slot, but is missing from the slot queue of its operation`;
    case 'stuck-slot':
      return `${target}: batch ${batchId} has ended, but still holds its slot`;
    default:
      return `${target}: ${finding}`;
  }
};

/** Describes a repair. A remedy from a later release has no description here, so its code is shown. */
const done = ({ remedy }: Finding): string => {
  switch (remedy) {
    case undefined:
      return 'repaired';
    case 'elect-message':
      return 'repaired by sending an elect message';
    case 'batch-message':
      return 'repaired by sending a batch message';
    case 'slot-freed':
      return 'repaired by releasing the slot';
    case 'lock-released':
      return 'repaired by releasing the lock';
    default:
      return remedy;
  }
};

const summary = ({ targets, batches, isAll }: Examined, wrong: number, treated: number, notices: number): string => {
  const all = [plural(targets, 'Target'), ...(batches === undefined ? [] : [plural(batches, 'batch', 'batches')])];
  const looked = `checked ${isAll ? '' : 'the first '}${all.join(' and ')}${isAll ? '' : ' (--deep checks all)'}`;
  const found = wrong > 0 ? plural(wrong, 'finding') : treated > 0 ? 'all findings were repaired' : 'nothing is wrong';
  const except = wrong === 0 && notices > 0 ? `, except for the ${notices === 1 ? 'note' : 'notes'} above (!)` : '';
  return `${looked}: ${found}${except}`;
};

/** Numbers of checked Targets and batches. */
interface Examined {
  readonly targets: number;
  readonly batches?: number;
  /** Whether all Targets were checked. */
  readonly isAll: boolean;
}

interface Walk {
  /** Maximum number of Targets. */
  readonly limit: number;
  /** Whether to check their batches too. */
  readonly batches: boolean;
  readonly repair: boolean;
  /** Called for each finding at once, because a long check may be interrupted. */
  readonly onFinding: (finding: Finding) => void;
  /** Called for each Target or batch that could not be checked. */
  readonly onSkipped: (skipped: Skipped) => void;
  /** Called for each Target that has a pause of its own. */
  readonly onPaused: (paused: PausedTarget) => void;
}

/** Checks Targets, and with `batches` their batches, page by page, so that each request is short. */
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

/** If the API fails at one Target's batches, the other Targets are still checked. @returns the number of batches checked. */
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
    walk.onSkipped({ id: target, reason: `reading the batches of this Target failed: ${cause.message}` });
  }
  return batches;
};

interface Page {
  readonly findings: readonly Finding[];
  /** Absent in responses of an earlier release, whose API fails the whole request instead. */
  readonly skipped?: readonly Skipped[] | undefined;
  /** Absent for batches, and in responses of an earlier release. */
  readonly paused?: readonly PausedTarget[] | undefined;
}

const ask = async <Shape extends Page>(
  api: ApiClient,
  { repair, onFinding, onSkipped, onPaused }: Walk,
  what: 'targets' | 'batches',
  shape: z.ZodMiniType<Shape>,
  query: Record<string, string>,
  cursor: string | undefined,
): Promise<Shape> => {
  const path = `/doctor/${what}?${new URLSearchParams({ ...query, ...(cursor === undefined ? {} : { cursor }) })}`;
  const { value } = await (repair ? api.post(path, '', shape) : api.get(path, shape));
  for (const finding of value.findings) onFinding(finding);
  for (const each of value.skipped ?? []) onSkipped(each);
  for (const each of value.paused ?? []) onPaused(each);
  return value;
};
