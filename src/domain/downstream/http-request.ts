/** What an HTTP call sends, and what its answer means, in the format that its operation configures. Pure. */
import type { HttpTarget } from '../config/endpoints.ts';
import { type Method, urlFor } from '../config/http-format.ts';
import type { TaskId } from '../ids.ts';
import { valuesIn } from '../target.ts';
import type { Outcome, TaskError } from '../tasks/task.ts';
import { type Answer, type Call, type CallItem, type ItemAnswer, printCall } from './downstream.ts';
import { type HttpAnswer, readAnswer, readStatus } from './http-answer.ts';
import { writeItems } from './request-format.ts';
import { readFormat } from './response-format.ts';

/** A call that is ready to be sent. */
export interface HttpCall {
  readonly method: Method;
  readonly url: string;
  readonly contentType: string;
  readonly body: string;
  /** The items in the body, in their order. */
  readonly items: readonly CallItem[];
  /** Items that are not in the body, because their payload does not fit `downstream.request`. */
  readonly unfit: ReadonlyMap<TaskId, TaskError>;
}

type Format = Pick<HttpTarget, 'url' | 'method' | 'request'>;

/** Writes a call. An answer means that it cannot be sent, and why. */
export const writeCall = ({ url: template, method, request }: Format, call: Call): HttpCall | Answer => {
  const at = urlFor(template, valuesIn(call.target));
  if ('field' in at)
    return {
      kind: 'refused',
      reason: `the value of ${at.field} cannot be part of the path in downstream.url: it is empty, "." or ".."`,
    };
  const { url } = at;
  if (request === null)
    return { method, url, contentType: 'application/json', body: printCall(call), items: call.items, unfit: new Map() };
  const { sent, ...written } = writeItems(request, call.items);
  if (sent.length > 0) return { method, url, items: sent, ...written };
  return { kind: 'results', items: failing(written.unfit), foreign: 0, withoutCall: true };
};

const failing = (unfit: HttpCall['unfit']): Map<TaskId, Outcome> =>
  new Map([...unfit].map(([id, error]) => [id, { status: 'failed', error }]));

/** What an HTTP answer means for the items of its call. */
export const readCall = (
  { response, requireResults }: Pick<HttpTarget, 'response' | 'requireResults'>,
  { items, unfit }: Pick<HttpCall, 'items' | 'unfit'>,
  answer: HttpAnswer,
): Answer =>
  withUnfit(
    response === null
      ? readAnswer(answer, items, requireResults)
      : readStatus(answer, () => readFormat(answer, items, response)),
    items,
    unfit,
  );

/** The answer, in which the items that were not sent fail. */
export const withUnfit = (answer: Answer, sent: readonly CallItem[], unfit: HttpCall['unfit']): Answer => {
  if (unfit.size === 0) return answer;
  switch (answer.kind) {
    case 'results':
      return { ...answer, items: new Map<TaskId, ItemAnswer>([...answer.items, ...failing(unfit)]) };
    case 'all-succeeded': {
      const { kind: _, inputs: __, ...rest } = answer;
      const done = sent.map(({ id }) => [id, { status: 'succeeded' } as const] as const);
      return { ...rest, kind: 'results', items: new Map<TaskId, ItemAnswer>([...done, ...failing(unfit)]), foreign: 0 };
    }
    case 'pending':
    case 'refused':
    case 'unavailable':
      return { ...answer, settled: failing(unfit) };
  }
};
