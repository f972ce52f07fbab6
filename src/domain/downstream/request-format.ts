/** Writes the items of a call in the format of a batch API (`downstream.request`). Pure. */
import { parsePointer, rawAt, withRawAt } from '../../util/json-pointer.ts';
import { parseJson } from '../../util/json-text.ts';
import type { LineFormat, RequestFormat } from '../config/http-format.ts';
import type { TaskId } from '../ids.ts';
import type { TaskError } from '../tasks/task.ts';
import type { CallItem } from './downstream.ts';

/** The body of a call. */
export interface Written<Item> {
  readonly body: string;
  readonly contentType: string;
  /** The items in the body, in their order. */
  readonly sent: readonly Item[];
  /** Items whose payload does not fit the format. They fail, and the others are sent without them. */
  readonly unfit: ReadonlyMap<TaskId, TaskError>;
}

const CONTENT_TYPES: Readonly<Record<RequestFormat['as'], string>> = {
  array: 'application/json',
  object: 'application/json',
  ndjson: 'application/x-ndjson',
  form: 'application/x-www-form-urlencoded',
};

export const writeItems = <Item extends CallItem>(format: RequestFormat, items: readonly Item[]): Written<Item> => {
  const sent: Item[] = [];
  const texts: string[] = [];
  const unfit = new Map<TaskId, TaskError>();
  for (const item of items) {
    const written = writeItem(format, item);
    if ('problem' in written) unfit.set(item.id, { code: 'payload-unfit', message: written.problem, retriable: false });
    else {
      sent.push(item);
      texts.push(written.text);
    }
  }
  return { body: join(format, texts), contentType: format.contentType ?? CONTENT_TYPES[format.as], sent, unfit };
};

const join = ({ as, items, with: beside }: RequestFormat, texts: readonly string[]): string => {
  const list = `[${texts.join(',')}]`;
  switch (as) {
    case 'array':
      return list;
    case 'object':
      // The configuration is checked: the pointer leads through objects only.
      return withRawAt(JSON.stringify(beside), parsePointer(items ?? ''), list) ?? list;
    case 'ndjson':
      return texts.map((text) => `${text}\n`).join('');
    case 'form':
      return new URLSearchParams([...Object.entries(beside).map(formField), [items ?? '', list]]).toString();
  }
};

const formField = ([name, value]: [string, unknown]): [string, string] => [
  name,
  typeof value === 'string' ? value : JSON.stringify(value),
];

const writeItem = (
  { as, item: { from, at, id, with: beside, line } }: RequestFormat,
  item: CallItem,
): { readonly text: string } | { readonly problem: string } => {
  if (!parseJson(item.payload).ok) return { problem: 'its payload is not JSON' };
  const part = rawAt(item.payload, parsePointer(from));
  if (part === undefined)
    return { problem: `its payload has nothing at ${from}, which downstream.request.item.from sends` };
  const text = withRawAt(JSON.stringify(beside), parsePointer(at), part);
  const identified =
    text !== undefined && id !== null ? withRawAt(text, parsePointer(id), JSON.stringify(item.id)) : text;
  if (identified === undefined)
    return {
      problem: `${from === '' ? 'its payload' : `the part of its payload at ${from}`} is no object into which the id could be put at ${id}: set downstream.request.item.at`,
    };
  if (as !== 'ndjson') return { text: identified };
  const one = onOneLine(identified);
  if (line === null) return { text: one };
  const before = writeLine(line, item);
  return before === undefined
    ? { problem: `its payload has nothing at ${line.from}, which downstream.request.item.line.from sends` }
    : { text: `${before}\n${one}` };
};

/** Line breaks in JSON are only between its values. */
const onOneLine = (json: string): string => json.replaceAll(/[\r\n]+/g, ' ');

/**
 * The line before an item. Undefined if the payload lacks its id. The configuration is checked: the pointer leads through
 * objects only.
 */
const writeLine = ({ with: constants, id, from }: LineFormat, { id: task, payload }: CallItem): string | undefined => {
  const text = JSON.stringify(constants);
  if (id === null) return text;
  const value = from === null ? JSON.stringify(task) : rawAt(payload, parsePointer(from));
  return value === undefined ? undefined : withRawAt(text, parsePointer(id), onOneLine(value));
};
