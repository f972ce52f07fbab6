/** A row as the document client gives it, and those of its fields that it holds as they are. */
import type { NativeAttributeValue } from '@aws-sdk/util-dynamodb';

export type Item = Record<string, NativeAttributeValue>;

/** In which attribute a row holds each of some fields. One that is not there has none. */
export type Attributes<Fields> = { readonly [Name in keyof Fields]-?: string };

export const written = <Fields extends object>(attributes: Attributes<Fields>, fields: Fields): Item => {
  const row: Item = {};
  for (const name of namesIn(attributes)) if (fields[name] !== undefined) row[attributes[name]] = fields[name];
  return row;
};

/** What {@link written} wrote. Others that are in the row are passed over. */
export const read = <Fields extends object>(attributes: Attributes<Fields>, row: Item): Fields => {
  const fields: Partial<Fields> = {};
  for (const name of namesIn(attributes)) if (row[attributes[name]] !== undefined) fields[name] = row[attributes[name]];
  return fields as Fields;
};

const namesIn = <Fields>(attributes: Attributes<Fields>) => Object.keys(attributes) as (keyof Fields & string)[];
