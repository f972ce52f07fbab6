/**
 * A release of Groupage that runs from a checkout, in a folder: an earlier release writes a fixture, this one reads
 * it.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ConfigInput } from '../../src/domain/config/schema/config.ts';
import { localClients } from '../../tools/local/clients.ts';
import { type LocalFile, readLocalFile } from '../../tools/local/local-folder.ts';
import { eventually } from '../end-to-end/flow.ts';

const CLOCK = join(import.meta.dirname, 'clock.ts');
const WORKER = join(import.meta.dirname, 'fleet-worker.ts');

export interface Running {
  readonly file: LocalFile;
  readonly clients: ReturnType<typeof localClients>;
  /** Its standard output and error. */
  readonly output: () => string;
  /** The answer to a request, if its status is 2xx. @throws Error with the answer otherwise */
  ask<Answer = Record<string, unknown>>(path: string, body?: object, method?: string): Promise<Answer>;
  /** The answer to any request. */
  call(path: string, init?: RequestInit): Promise<Response>;
  /** Resolves when the process and its engines have ended. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>;
}

export interface At {
  /** The checkout. */
  readonly release: string;
  /** The folder of its data and its configuration. */
  readonly folder: string;
  readonly config: ConfigInput;
  /** The time on its clock at the start, in milliseconds since the epoch. @default - this machine's time */
  readonly now?: number;
}

/** The program that a release runs on `npm start`; its path differs between releases. */
const programOf = (release: string): string => {
  const { scripts } = JSON.parse(readFileSync(join(release, 'package.json'), 'utf8')) as { scripts: { start: string } };
  return join(release, scripts.start.split(' ').at(-1) ?? '');
};

/** Starts a release, as `npm start` does. */
export const startRelease = async ({ release, folder, config, now }: At): Promise<Running> => {
  writeFileSync(join(folder, 'groupage.config.json'), JSON.stringify(config));
  const child = spawn(
    process.execPath,
    [...clockAt(now), programOf(release), '--port', '0', '--config', 'groupage.config.json'],
    { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  const output = outputOf(child);
  const file = await eventually(() => {
    if (child.exitCode !== null) throw new Error(`the release did not start: ${output()}`);
    const found = readLocalFile(folder);
    return found?.pid === child.pid ? found : undefined;
  });
  const call: Running['call'] = (path, init) => fetch(`${file.api}${path}`, init);
  return {
    file,
    clients: localClients({ dynamodb: file.dynamodb, sqs: file.sqs }),
    output,
    call,
    ask: async <Answer>(path: string, body?: object, method = body ? 'POST' : 'GET') => {
      const response = await call(path, { method, ...(body ? { body: JSON.stringify(body) } : {}) });
      if (!response.ok) throw new Error(`${method} ${path} was answered ${response.status}: ${await response.text()}`);
      return (await response.json()) as Answer;
    },
    end: async (signal) => {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill(signal);
        await new Promise((resolve) => child.once('exit', resolve));
      }
      await eventually(() => isGone(file.dynamodb));
    },
  };
};

/** A worker of a release's fleet. `end` resolves when it has ended. */
export interface Worker {
  readonly output: () => string;
  readonly pid: number | undefined;
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>;
}

export const startWorker = (
  { release, now }: Pick<At, 'release' | 'now'>,
  setting: { readonly fleet: string; readonly node: string; readonly endpoint: string; readonly table: string },
): Worker => {
  const child = spawn(process.execPath, [...clockAt(now), WORKER, release, JSON.stringify(setting)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return {
    output: outputOf(child),
    pid: child.pid,
    end: async (signal) => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill(signal);
      await new Promise((resolve) => child.once('exit', resolve));
    },
  };
};

const clockAt = (now: number | undefined): readonly string[] =>
  now === undefined ? [] : ['--import', `${CLOCK}?ahead=${Math.round(now - Date.now())}`];

const outputOf = ({ stdout, stderr }: ChildProcess): (() => string) => {
  const said: string[] = [];
  for (const stream of [stdout, stderr]) stream?.on('data', (data) => said.push(String(data)));
  return () => said.join('');
};

const isGone = (endpoint: string): Promise<boolean> =>
  fetch(endpoint).then(
    () => false,
    () => true,
  );
