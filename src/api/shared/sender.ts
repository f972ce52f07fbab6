/** The sender of the messages that the API sends for a caller. */
import type { Context } from 'hono';
import type { Sender } from '../../domain/producers/sender.ts';
import { callerOf } from './caller.ts';

export const senderIn = (context: Pick<Context, 'env'>): Sender => ({ id: callerOf(context).id, via: 'api' });
