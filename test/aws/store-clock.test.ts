import { ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type AwsClients, awsClients } from '../../src/aws/clients.ts';
import { makeResources, type Resources } from '../backends/resources.ts';
import { type AwsReply, type AwsService, awsError, startAwsService } from '../factories/aws-service.ts';

const AHEAD = 30_000;
/** A reply with the date of a store whose clock is ahead. */
const dated = (reply: AwsReply): AwsReply => ({
  ...reply,
  headers: { ...reply.headers, date: new Date(Date.now() + AHEAD).toUTCString() },
});
const TABLES = { body: { TableNames: ['T'] } };

describe('the clock of a DynamoDB client', () => {
  let service: AwsService;
  let clients: AwsClients;
  beforeEach(async () => {
    service = await startAwsService(() => dated(TABLES));
    const { endpoint, ...options } = service.options;
    clients = awsClients({ ...options, dynamodb: endpoint });
  });
  afterEach(async () => {
    clients.dynamodb.destroy();
    await service.stop();
  });

  const list = () => clients.dynamodb.send(new ListTablesCommand());
  /** How far the store's clock is ahead of the local clock. */
  const ahead = (): number => clients.clock.now(0);

  it('follows the dates of the answers', async () => {
    expect(ahead()).toBe(0);
    const before = Date.now();
    await list();
    const took = Date.now() - before;
    expect(ahead()).toBeLessThanOrEqual(AHEAD);
    expect(ahead()).toBeGreaterThanOrEqual(AHEAD - 1_000 - took);
    expect(clients.clock.error()).toBeLessThanOrEqual(1_001 + took);
  });

  it('notes each answered attempt of a request by itself', async () => {
    const note = vi.spyOn(clients.clock, 'note');
    const replies = [{ status: 500, body: {} }, undefined, { status: 503, body: {} }, TABLES];
    service.behave(async (_, response) => {
      // Each attempt takes long enough to tell its time from the whole request's.
      await new Promise((resolve) => setTimeout(resolve, 20));
      const reply = replies.shift();
      if (reply) return dated(reply);
      response.destroy();
      return undefined;
    });
    expect((await list()).TableNames).toEqual(['T']);
    const notes = note.mock.calls.map(([sample]) => sample);
    expect(notes).toHaveLength(3);
    notes.forEach(({ sent, received, date }, n) => {
      expect(sent).toBeGreaterThanOrEqual(notes[n - 1]?.received ?? 0);
      expect(received).toBeGreaterThanOrEqual(sent + 19);
      expect(date + 1_000).toBeGreaterThan(sent + AHEAD);
      expect(date).toBeLessThanOrEqual(received + AHEAD);
    });
  });

  it('notes the answer of a request that fails', async () => {
    service.behave(() => dated(awsError(400, 'ValidationException')));
    await expect(list()).rejects.toThrow('no reason');
    expect(ahead()).toBeGreaterThan(0);
  });

  it('stays the local clock if the answers have no valid date', async () => {
    service.behave((_, response) => {
      response.sendDate = false;
      return TABLES;
    });
    expect((await list()).TableNames).toEqual(['T']);
    service.behave(() => ({ ...TABLES, headers: { date: 'yesterday' } }));
    expect((await list()).TableNames).toEqual(['T']);
    expect(clients.clock.error()).toBe(Number.POSITIVE_INFINITY);
    expect(ahead()).toBe(0);
  });
});

describe('the clock of the clients', () => {
  let resources: Resources;
  beforeAll(async () => {
    resources = await makeResources();
  });
  afterAll(() => resources.stop());

  it('is close to the local clock, as the store dates its answers', () => {
    const { clock } = resources.clients;
    expect(clock.error()).toBeLessThan(10_000);
    expect(Math.abs(clock.now(0))).toBeLessThan(1_000);
  });
});
