/** In what decides without asking the world. */
import { type Mutant, mutantsOf } from './mutant.ts';

export const PURE: readonly Mutant[] = [
  ...mutantsOf(
    'src/fan-out/tree.ts',
    ['test/fan-out/complete.test.ts', 'test/fan-out/fan-out.test.ts'],
    [
      'Math.max(0, Math.min(width, nodesAt(groups, level - 1, width) - n * width))',
      'Math.max(0, Math.min(width, nodesAt(groups, level - 1, width)))',
    ],
    ['Math.min(width, count - n * width)', 'width'],
  ),
  ...mutantsOf(
    'src/deferred/list.ts',
    ['test/deferred/list.test.ts', 'test/deferred/claim.test.ts'],
    ['until + 2 * CLOCK_SKEW < now', 'until + 2 * CLOCK_SKEW <= now'],
    ['until === 0 || until + 2 * CLOCK_SKEW < now', 'until + 2 * CLOCK_SKEW < now'],
    ['list.leases.length - free.length >= CLAIMS_MAX', 'list.leases.length - free.length > CLAIMS_MAX'],
    ['lease.first !== end() || end() - first.first >= count', 'lease.first !== end()'],
    ["if (!handsOut(list)) return { do: 'refuse' };", ''],
  ),
  ...mutantsOf(
    'src/batching/policy.ts',
    ['test/batching/policy.test.ts', 'test/batching/policy-properties.test.ts'],
    ["if (oldest <= flushedAt) return seal('flush');", "if (oldest < flushedAt) return seal('flush');"],
    ["if (end <= now) return seal('waited');", "if (end < now) return seal('waited');"],
    [
      "if (mayBeQuiet && quietAt <= now) return seal('quiet');",
      "if (mayBeQuiet && quietAt < now) return seal('quiet');",
    ],
    ['rows.length >= policy.minSize', 'rows.length > policy.minSize'],
    ['bypass !== null && bytes >= bypass', 'bypass !== null && bytes > bypass'],
    ['(Math.floor(at / window) + 1) * window', 'Math.ceil(at / window) * window'],
    ['take > 0 && bytes > policy.maxBytes', 'bytes > policy.maxBytes'],
    ['take > 0 && weight > maxWeight', 'take > 0 && weight >= maxWeight'],
    [
      "if (bytes >= policy.maxBytes) return { take, because: 'bytes' };",
      "if (bytes > policy.maxBytes) return { take, because: 'bytes' };",
    ],
    ['return weight >= maxWeight ?', 'return weight > maxWeight ?'],
    ['Math.min(end, expiry, nextLook(', 'Math.min(end, nextLook('],
  ),
  ...mutantsOf(
    'src/batching/delay.ts',
    ['test/batching/small-parts.test.ts', 'test/batching/policy.test.ts'],
    ['Math.floor((moment - now) / 1_000) + 1', 'Math.floor((moment - now) / 1_000)'],
    ['MAX_DELAY) + TOLERATED_LATENESS', 'MAX_DELAY)'],
  ),
  ...mutantsOf(
    'src/downstream/retry.ts',
    ['test/batching/small-parts.test.ts', 'test/downstream/http-answer.test.ts'],
    ['Math.min(attempt - 1, MAX_DOUBLINGS)', 'Math.min(attempt, MAX_DOUBLINGS)'],
    ['const MAX_DOUBLINGS = 1_023;', 'const MAX_DOUBLINGS = 1_024;'],
    ['Math.min(retryAfter, RETRY_AFTER_MAX) + random', 'retryAfter + random'],
    ['Number(header) * 1_000', 'Number(header)'],
    ['Math.max(0, date - now)', 'date - now'],
  ),
  ...mutantsOf(
    'src/batching/bisect.ts',
    ['test/batching/bisect.test.ts'],
    ["part(items.slice(middle), suspect === 'an-item')", 'part(items.slice(middle), true)'],
    ['{ ...next, dependsOnFirst: false, isGuilty: true }', '{ ...next, dependsOnFirst: false }'],
  ),
  ...mutantsOf(
    'src/downstream/verdict.ts',
    ['test/downstream/verdict.test.ts'],
    ['open: items.filter(({ id }) => !settled.has(id))', 'open: items'],
    ['answer.settled?.get(item.id) ?? refused', 'refused'],
    ["reasons[0] ?? { reason: '' }", "reasons.at(-1) ?? { reason: '' }"],
  ),
  ...mutantsOf(
    'src/fleet/timings.ts',
    ['test/fleet/timings.test.ts'],
    ['now - endedAt <= RECENT', 'now - endedAt < RECENT'],
    ['24 * cycle', '240 * cycle'],
    ['Math.floor((ttl * 2) / 3)', 'ttl'],
  ),
  ...mutantsOf(
    'src/fleet/silence.ts',
    ['test/fleet/silence.test.ts'],
    ['seen.silence >= ttl && seen.reads >= READS_MIN', 'seen.silence >= ttl'],
    ['Math.min(from - memory.readAt, cycle * (1 + JITTER))', 'from - memory.readAt'],
    ['seen.silence >= ttl', 'seen.silence > ttl'],
  ),
  ...mutantsOf(
    'src/batching/lock.ts',
    ['test/batching/lock.test.ts'],
    ['message.hint || lock.fence >= fence', 'lock.fence >= fence'],
    ['fence > lock.fence + FENCES_AHEAD_MAX', 'fence >= lock.fence + FENCES_AHEAD_MAX'],
    ['lock.fence === fence && lock.holder === token', 'lock.holder === token'],
  ),
  ...mutantsOf(
    'src/batching/call-rate.ts',
    ['test/batching/call-rate.test.ts'],
    ['Math.ceil(1_000 / rate)', 'Math.floor(1_000 / rate)'],
  ),
  ...mutantsOf(
    'src/fan-out/fan-out.ts',
    ['test/fan-out/fan-out.test.ts'],
    ['checkAt <= now + SETTLED', 'checkAt <= now'],
    ['checkAt <= now + SETTLED', 'checkAt < now + SETTLED'],
  ),
  ...mutantsOf(
    'src/fan-out/fan-out.ts',
    ['test/fan-out/races.test.ts'],
    ['?? 0) > TOLERATED_MAX', '?? 0) >= TOLERATED_MAX'],
  ),
  ...mutantsOf(
    'src/merging/answers.ts',
    ['test/merging/merge.test.ts'],
    ["else if ((answers.get(key)?.status ?? 'retry') === 'retry') answers", 'else answers'],
  ),
];
