/** The calls of a batch as bars: when each began, how long it took, and what it answered. */
import { html, nothing, type TemplateResult } from 'lit';
import { clock, count, duration, plural } from '../base/format.ts';
import { type Bar, type Call, waterfall } from '../model/calls.ts';
import { shape } from './parts.ts';

/** @param size number of tasks in the batch. @param now in milliseconds since the epoch. */
export const waterfallOf = (calls: readonly Call[], size: number, now: number): TemplateResult => html`
  <div class="scroll" role="group" aria-label="Calls of this batch" tabindex="0">
    <table class="waterfall">
      <caption class="unseen">Calls of this batch, oldest first</caption>
      <thead><tr>
        <th scope="col">Attempt</th><th scope="col">Started</th><th scope="col">Tasks</th>
        <th scope="col">Answer</th><th scope="col" class="number">Took</th><th scope="col" class="minor">Within the attempt</th>
      </tr></thead>
      <tbody>${waterfall(calls).flatMap(({ attempt, bars }) => bars.map((bar, index) => row(bar, index === 0 ? attempt : undefined, size, now)))}</tbody>
    </table>
  </div>`;

const row = (
  { call, from, width }: Bar,
  attempt: number | undefined,
  size: number,
  now: number,
): TemplateResult => html`
  <tr>
    <td>${attempt === undefined ? nothing : count(attempt)}</td>
    <td><time datetime=${call.startedAt}>${clock(Date.parse(call.startedAt), now)}</time></td>
    <td>${tasksOf(call, size)}</td>
    <td><span class="clip" title=${call.answer}>${shape(call.isError ? 'bad' : 'ok')} ${answerWords(call)}</span></td>
    <td class="number">${duration(call.tookMs)}</td>
    <td class="minor"><svg class="bar ${call.isError ? 'bad' : 'ok'}" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
      <rect x=${100 * from} y="1" width=${100 * width} height="8" rx="1"></rect></svg></td>
  </tr>`;

/** Which tasks a call contained. A refused call is halved, so later calls of an attempt contain a part. */
const tasksOf = ({ tasks, members }: Call, size: number): string =>
  members === undefined
    ? tasks === size
      ? `all ${count(tasks)}`
      : plural(tasks, 'task')
    : `${count(tasks)} of ${count(size)}: no. ${members}`;

const ANSWERS: Readonly<Record<string, string>> = {
  results: 'answered with results',
  'all-succeeded': 'succeeded',
  pending: 'accepted; reports later',
};

const answerWords = ({ answer }: Pick<Call, 'answer'>): string => ANSWERS[answer] ?? answer;
