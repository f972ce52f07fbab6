/**
 * The HTTP downstream of a batch API that has a format of its own (`downstream.request`, `response`, `auth`, or fields in
 * its URL). Loaded only for such operations.
 */
import type { HttpTarget } from '../domain/config/endpoints.ts';
import type { Downstream } from '../domain/downstream/downstream.ts';
import { readCall, withUnfit, writeCall } from '../domain/downstream/http-request.ts';
import { httpDownstream } from './http.ts';
import { authorizerOf } from './http-auth.ts';
import type { CallSurroundings } from './http-format.ts';

/** A downstream at `target.url`, in any format. */
export const formattedDownstream = (target: HttpTarget, surroundings: CallSurroundings): Downstream =>
  httpDownstream(target, surroundings, {
    write: (call) => writeCall(target, call),
    read: (written, answer) => readCall(target, written, answer),
    unanswered: ({ items, unfit }, answer) => withUnfit(answer, items, unfit),
    authorizer: authorizerOf(target.auth, surroundings, target.timeout),
  });
