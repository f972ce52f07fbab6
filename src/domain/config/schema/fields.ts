/** Lists of payload fields: the `target` of an operation, and the `key` of a limit. */
import * as z from 'zod';
import { fault, must } from './rules.ts';

/** Dots lead into nested objects. */
const FIELD = /^[^.]+(?:\.[^.]+)*$/;
const FIELDS_MAX = 10;

/** @param problem the message about a value that is no list */
export const payloadFields = (problem: ReturnType<typeof must>) =>
  z
    .array(
      z
        .custom<string>(
          (value) => typeof value === 'string' && value.isWellFormed() && FIELD.test(value),
          must('the name of a payload field, such as "depot" or "route.origin"'),
        )
        .meta({ type: 'string', pattern: FIELD.source }),
      problem,
    )
    .superRefine((fields, context) => {
      if (fields.length > FIELDS_MAX) fault(context, [], `must name at most ten payload fields, not ${fields.length}`);
      const twice = fields.find((field, index) => fields.indexOf(field) < index);
      if (twice !== undefined) fault(context, [], `must not name a field twice: ${JSON.stringify(twice)}`);
    })
    .meta({ maxItems: FIELDS_MAX, uniqueItems: true });
