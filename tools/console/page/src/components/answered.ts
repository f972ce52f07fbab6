/** What a view shows of a call's answer: the answer, that it is awaited, or the API's words against it. */
import type { TemplateResult } from 'lit';
import { refusalOf } from '../base/api.ts';
import type { Page } from '../base/screen.ts';
import { problem } from './parts.ts';

/** What the API refused, as a piece of the page; undefined where it did not. */
export const refused = ({ live }: Page, path: string): TemplateResult | undefined => {
  const answer = live.answer(path);
  if (!answer || answer.status < 300) return undefined;
  const { detail, errors } = refusalOf(answer.status, JSON.stringify(answer.body));
  return problem(detail, errors);
};

/** Whether what was asked for is not there. */
export const isUnknown = ({ live }: Page, path: string): boolean => live.answer(path)?.status === 404;
