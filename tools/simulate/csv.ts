/** Records of CSV (RFC 4180): fields in quotes may have commas, quotes that are doubled, and ends of lines. */

/** Whether a record goes on in the next line: a quote is open. */
export const goesOn = (record: string): boolean => {
  let quotes = 0;
  for (let at = record.indexOf('"'); at !== -1; at = record.indexOf('"', at + 1)) quotes += 1;
  return quotes % 2 === 1;
};

/** The fields of a whole record; undefined where a quote stands in a field that has none around it, or behind them. */
export const fieldsOf = (record: string): readonly string[] | undefined => {
  const fields: string[] = [];
  for (let at = 0; at <= record.length; ) {
    const end = record[at] === '"' ? endOfQuoted(record, at) : endOfPlain(record, at);
    if (end === undefined || (end < record.length && record[end] !== ',')) return undefined;
    const field = record.slice(at, end);
    fields.push(record[at] === '"' ? field.slice(1, -1).replaceAll('""', '"') : field);
    at = end + 1;
  }
  return fields;
};

const endOfPlain = (record: string, from: number): number | undefined => {
  const comma = record.indexOf(',', from);
  const end = comma === -1 ? record.length : comma;
  const quote = record.indexOf('"', from);
  return quote !== -1 && quote < end ? undefined : end;
};

const endOfQuoted = (record: string, from: number): number | undefined => {
  let quote = record.indexOf('"', from + 1);
  while (record[quote + 1] === '"') quote = record.indexOf('"', quote + 2);
  return quote === -1 ? undefined : quote + 1;
};
