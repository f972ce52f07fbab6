/** Whom the alarms call, and when. */
import { ALARM_TOPIC } from './names.ts';
import { formed, mustUnseen, section, text, whole } from './rules.ts';

const fields = section({
  topic: text(
    ALARM_TOPIC,
    'the ARN of a standard SNS topic, such as "arn:aws:sns:eu-central-1:111122223333:on-call" (of the region that it is deployed to), or null for nobody',
  )
    .nullable()
    .default(null),
  // It stands before the section's anchor, so it ends neither in a # nor in a query.
  runbook: formed(
    /^[^\s#?]{1,500}$/,
    mustUnseen('where docs/operating.md is to be read: an address or a path, without # and ?'),
  ).default('docs/operating.md'),
  failedBatches: whole(1, 1_000_000).default(1),
});
/** Null: there is nobody to be called, and nothing that would. */
export const alarmsSchema = fields.nullable().prefault({});
export const alarmKeys: readonly string[] = Object.keys(fields.shape);
