/**
 * Turns an error message into a cause: parts that vary from task to task are replaced, so that errors with one cause
 * get the same text. Statuses and the words of an error stay. Ids, names and numbers are replaced. Pure.
 */

/** The text that replaces a varying part. */
const VARIES = '…';

/** Names of JSON fields whose text describes the error rather than the affected task or thing. */
const TELLING = 'code|detail|details|error|errorMessage|errorType|kind|message|msg|reason|status|title|type';

/** Maximum number of characters of a message that are compared. The rest of the message is ignored. */
const MESSAGE_MAX = 1_000;
/** Minimum length of a name that is replaced. Shorter names may be ordinary words. */
const NAME_MIN = 6;

/** @param names the names to replace, such as the task's id and Target, which the message may repeat */
export const causeOf = (message: string, names: readonly string[] = []): string => {
  const known = names.filter(({ length }) => length >= NAME_MIN).toSorted((a, b) => b.length - a.length);
  return known
    .reduce((text, name) => text.replaceAll(name, VARIES), message.slice(0, MESSAGE_MAX).replaceAll(BATCH_ID, VARIES))
    .replaceAll(QUOTED, quotedPart)
    .replaceAll(VARYING, (part) => (KEPT.test(part) ? part : VARIES))
    .replaceAll(RUN, '$<one>');
};

const BATCH_ID = /[^\s"'`#]{1,600}#\d{1,15}#\d{1,15}/g;

/**
 * Matches quoted parts, with the JSON field name before them or the colon after them, if any. An apostrophe inside a
 * word does not begin a quote.
 */
const QUOTED = new RegExp(
  String.raw`(?:"(?<field>${TELLING})"\s{0,4}:\s{0,4})?(?:"(?<text>(?:[^"\\]|\\.)*)"(?<colon>\s{0,4}:)?|(?<!\w)'[^'\n]*'(?!\w)|${'`'}[^${'`'}\n]*${'`'})`,
  'g',
);

const quotedPart = (part: string, ...found: readonly unknown[]): string => {
  const { field, text, colon } = found.at(-1) as { field?: string; text?: string; colon?: string };
  if (field !== undefined) return `"${field}":"${text ?? VARIES}"`;
  if (colon !== undefined) return part;
  return `${part[0]}${VARIES}${part[0]}`;
};

/**
 * Matches UUIDs, ULIDs, times, hashes and numbers. Also matches "answered" with a status, which `KEPT` leaves
 * unchanged.
 */
const VARYING = new RegExp(
  [
    String.raw`\banswered \d{3}\b`,
    String.raw`\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b`,
    String.raw`\b[0-7][0-9A-HJKMNP-TV-Z]{25}\b`,
    String.raw`\b\d{4}-\d\d-\d\dT[\d:.]{5,15}(?:Z|[+-]\d\d:?\d\d)?`,
    String.raw`\b(?=[a-f]{0,63}\d)[0-9a-f]{8,}\b`,
    String.raw`\d+(?:[.,:]\d+)*`,
  ].join('|'),
  'gi',
);
const KEPT = /^answered /;

/** Matches repeated varying parts, such as the elements of a list, so that one part replaces all of them. */
const RUN = /(?<one>["'`]?…["'`]?)(?:,? ?\k<one>)+/g;
