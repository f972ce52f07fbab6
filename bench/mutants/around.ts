/** Mutants of the other parts: configuration, API, console, callbacks and infrastructure. */
import { type Mutant, mutantsOf } from './mutant.ts';

export const AROUND: readonly Mutant[] = [
  ...mutantsOf(
    'lib/ops/watch.ts',
    ['test/infrastructure/thresholds.test.ts'],
    ['const LASTING = 3;', 'const LASTING = 4;'],
  ),
  ...mutantsOf(
    'lib/ops/alarms.ts',
    ['test/infrastructure/thresholds.test.ts'],
    ['const TAKEOVERS = 3;', 'const TAKEOVERS = 3_000;'],
    ['const REGISTER_AGE = 300;', 'const REGISTER_AGE = 300_000;'],
    ['Duration.minutes(20)', 'Duration.minutes(200)'],
    ['threshold: late,', 'threshold: late * 1_000,'],
    ['threshold: failedBatches,', 'threshold: failedBatches * 1_000,'],
  ),
  ...mutantsOf(
    'src/domain/config/schema/combinations.ts',
    ['test/config/combinations.test.ts'],
    ['if (keepTasks < least)', 'if (keepTasks <= least)'],
    ['merge && keepTasks < wait', 'merge && keepTasks <= wait'],
    ['minDelay > maxDelay', 'minDelay >= maxDelay'],
    ['attempt > LAMBDA_MAX', 'attempt > LAMBDA_MAX + 60_000'],
    ['attempt > LAMBDA_MAX', 'attempt >= LAMBDA_MAX'],
  ),
  ...mutantsOf(
    'src/api/shared/fields.ts',
    ['test/api/bodies.test.ts'],
    ['value.length <= maxItems', 'value.length <= maxItems + 1'],
    ['value.length >= minItems && ', ''],
  ),
  ...mutantsOf(
    'tools/console/server/call.ts',
    ['test/console/call.test.ts'],
    ["cause.name === 'TimeoutError'", 'false'],
    ["pathname.slice('/v1'.length)", 'pathname'],
    ["'retry-after', ", ''],
  ),
  ...mutantsOf(
    'src/steps/deliver/deliver.ts',
    ['test/callbacks/deliver.test.ts'],
    ['    onFailure(message, cause);\n', ''],
    ['if (!(cause instanceof TooLarge)) throw cause;', 'if (cause instanceof TooLarge) throw cause;'],
    ["if (receives < CALLBACK_CHANCES || becauseOf(each.outcome) === 'no-slot') return [each];", ''],
    [" || becauseOf(each.outcome) === 'no-slot'", ''],
    ['await deps.queues.giveUp([body]);', ''],
    ["({ kind }) => kind === 'delivered').length", "({ kind }) => kind !== 'delivered').length"],
  ),
  ...mutantsOf(
    'src/domain/callbacks/share.ts',
    ['test/callbacks/share.test.ts'],
    ['slots.length >= SLOTS.all', 'slots.length > SLOTS.all'],
    ['({ until }) => until > now', '() => true'],
    ["phase === 'down' || ", ''],
    ['(isOpen && !isProbe)', 'isOpen'],
  ),
  ...mutantsOf(
    'src/steps/deliver/deliver-to.ts',
    ['test/callbacks/deliver-to.test.ts'],
    ["changed === 'unknown';", 'false;'],
    ['this.#abort.abort();', ''],
  ),
  ...mutantsOf(
    'src/domain/config/resolved.ts',
    ['test/config/resolved.test.ts'],
    ['Math.max(longest, 2 * AWS_CALL) + HANDLER_OVERHEAD', '2 * AWS_CALL + HANDLER_OVERHEAD'],
    ['Math.max(longest, 2 * AWS_CALL)', 'longest'],
    ['6 * handlerTimeout(config)', 'handlerTimeout(config)'],
  ),
  ...mutantsOf(
    'src/api/tasks/requests.ts',
    ['test/api/bodies.test.ts'],
    ['tasks.length > TASKS_MAX)', 'tasks.length > TASKS_MAX + 1)'],
    ['tasks.length === 0 || ', ''],
  ),
];
