/** A row as the document client returns it, and the fields that it holds unchanged. */
import type { NativeAttributeValue } from '@aws-sdk/util-dynamodb';

export type Item = Record<string, NativeAttributeValue>;

/** The attribute of a row for each of some fields. A field that is undefined has no attribute. */
export type Attributes<Fields> = { readonly [Name in keyof Fields]-?: string };

export const written = <Fields extends object>(attributes: Attributes<Fields>, fields: Fields): Item => {
  const row: Item = {};
  for (const name of namesIn(attributes)) if (fields[name] !== undefined) row[attributes[name]] = fields[name];
  return row;
};

/** Reads what {@link written} wrote. Other attributes of the row are ignored. */
export const read = <Fields extends object>(attributes: Attributes<Fields>, row: Item): Fields => {
  const fields: Partial<Fields> = {};
  for (const name of namesIn(attributes)) if (row[attributes[name]] !== undefined) fields[name] = row[attributes[name]];
  return fields as Fields;
};

const namesIn = <Fields>(attributes: Attributes<Fields>) => Object.keys(attributes) as (keyof Fields & string)[];
