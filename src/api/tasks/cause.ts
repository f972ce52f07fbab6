/**
 * What failures have in common: a message without what varies from task to task, so that those of one cause read alike.
 * Pure. What it leaves is a matter of taste: statuses and the words of an error stay, names of things go.
 */

/** In the place of what varies. */
const VARIES = '…';

/** What fields of JSON are called whose text says what is wrong, and not with what. */
const TELLING = 'code|detail|details|error|errorMessage|errorType|kind|message|msg|reason|status|title|type';

/** What differs only beyond that has one cause. */
const MESSAGE_MAX = 1_000;
/** Shorter names may be words. */
const NAME_MIN = 6;

/** @param names of what failed, such as the task's id and Target, which its message may repeat */
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
 * Parts in quotes, each with the name of the field before it, if it is a field's, or with the colon behind it, if it is
 * such a name. An apostrophe amid a word begins no quote.
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

/** UUIDs and ULIDs, moments, hashes, and numbers in whatever they are; or a status, which stays. */
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

/** What varies may also vary in how much there is of it: a list, say. */
const RUN = /(?<one>["'`]?…["'`]?)(?:,? ?\k<one>)+/g;
