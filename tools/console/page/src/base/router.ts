/**
 * The addresses of the page's views. An address is in the fragment after the `#`, so that it works under any URL of the
 * page. Pure.
 */
import { percentDecoded } from '../../../../../src/util/percent.ts';

export type Route =
  | { readonly view: 'overview' }
  | { readonly view: 'operation'; readonly name: string }
  | { readonly view: 'operations' }
  | {
      readonly view: 'targets';
      readonly operation?: string;
      /** Only Targets whose name contains this text. */
      readonly search?: string;
      readonly sort?: string;
      readonly cursor?: string;
    }
  | {
      readonly view: 'batches';
      readonly operation?: string;
      /** `under-way`: only batches under way. */
      readonly which?: string;
      readonly state?: string;
      readonly fill?: string;
      readonly cursor?: string;
    }
  | { readonly view: 'target'; readonly target: string; readonly cursor?: string }
  | { readonly view: 'batch'; readonly id: string }
  | { readonly view: 'task'; readonly id: string; readonly isNew?: true }
  | { readonly view: 'failures'; readonly cursor?: string }
  | { readonly view: 'rejected' }
  | { readonly view: 'given-up' }
  | { readonly view: 'fan-outs'; readonly cursor?: string }
  | { readonly view: 'fan-out'; readonly id: string; readonly cursor?: string }
  | { readonly view: 'lists'; readonly cursor?: string }
  | { readonly view: 'list'; readonly id: string; readonly from?: string; readonly status?: string }
  | { readonly view: 'fleets' }
  | { readonly view: 'fleet'; readonly id: string }
  | { readonly view: 'limits' }
  | { readonly view: 'limit'; readonly name: string; readonly key?: string; readonly cursor?: string }
  | { readonly view: 'audit'; readonly cursor?: string }
  | { readonly view: 'search'; readonly text: string }
  | { readonly view: 'unknown'; readonly path: string };

/** The address of a view, for a link. */
export const href = (route: Route): string => `#${pathOf(route)}`;

const pathOf = (route: Route): string => {
  switch (route.view) {
    case 'overview':
      return '/';
    case 'operation':
      return `/operations/${encodeURIComponent(route.name)}`;
    case 'targets':
      return `/targets${query({ operation: route.operation, search: route.search, sort: route.sort, cursor: route.cursor })}`;
    case 'batches': {
      const { view: _, ...of } = route;
      return `/batches${query(of)}`;
    }
    case 'target':
      return `/targets/${encodeURIComponent(route.target)}${query({ cursor: route.cursor })}`;
    case 'batch':
      return `/batches/${encodeURIComponent(route.id)}`;
    case 'task':
      return `/tasks/${encodeURIComponent(route.id)}${route.isNew ? '?new=1' : ''}`;
    case 'failures':
    case 'fan-outs':
    case 'lists':
    case 'audit':
      return `/${route.view}${query({ cursor: route.cursor })}`;
    case 'fan-out':
      return `/fan-outs/${encodeURIComponent(route.id)}${query({ cursor: route.cursor })}`;
    case 'list':
      return `/lists/${encodeURIComponent(route.id)}${query({ status: route.status, from: route.from })}`;
    case 'operations':
    case 'rejected':
    case 'given-up':
    case 'fleets':
    case 'limits':
      return `/${route.view}`;
    case 'fleet':
      return `/fleets/${encodeURIComponent(route.id)}`;
    case 'limit':
      return `/limits/${encodeURIComponent(route.name)}${query({ key: route.key, cursor: route.cursor })}`;
    case 'search':
      return `/search${query({ q: route.text })}`;
    case 'unknown':
      return route.path;
  }
};

/** Builds a query string from the values that are defined and not empty. */
export const query = (of: Readonly<Record<string, string | undefined>>): string => {
  const given = Object.entries(of).filter((pair): pair is [string, string] => pair[1] !== undefined && pair[1] !== '');
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
};

/** @param hash the fragment of the browser's address, with or without its `#`. */
export const parseRoute = (hash: string): Route => {
  const path = hash.replace(/^#/, '') || '/';
  const [before = '', after = ''] = path.split('?', 2);
  const parts = before.split('/').filter((part) => part !== '');
  const [room = '', name] = parts;
  const id = name === undefined ? undefined : percentDecoded(name);
  if (parts.length > 2 || (name !== undefined && id === undefined)) return { view: 'unknown', path };
  const route = id === undefined ? whole(room, new URLSearchParams(after)) : one(room, id, new URLSearchParams(after));
  return route ?? { view: 'unknown', path };
};

const whole = (room: string, params: URLSearchParams): Route | undefined => {
  switch (room) {
    case '':
      return { view: 'overview' };
    case 'targets':
      return { view: 'targets', ...some(params, 'operation', 'search', 'sort', 'cursor') };
    case 'batches':
      return { view: 'batches', ...some(params, 'operation', 'which', 'state', 'fill', 'cursor') };
    case 'failures':
    case 'fan-outs':
    case 'lists':
    case 'audit':
      return { view: room, ...given(params, 'cursor') };
    case 'operations':
    case 'rejected':
    case 'given-up':
    case 'fleets':
    case 'limits':
      return { view: room };
    case 'search':
      return { view: 'search', text: params.get('q') ?? '' };
  }
  return undefined;
};

const one = (room: string, id: string, params: URLSearchParams): Route | undefined => {
  switch (room) {
    case 'operations':
      return { view: 'operation', name: id };
    case 'targets':
      return { view: 'target', target: id, ...given(params, 'cursor') };
    case 'batches':
      return { view: 'batch', id };
    case 'tasks':
      return { view: 'task', id, ...(params.has('new') ? { isNew: true as const } : {}) };
    case 'fan-outs':
      return { view: 'fan-out', id, ...given(params, 'cursor') };
    case 'lists':
      return { view: 'list', id, ...some(params, 'status', 'from') };
    case 'fleets':
      return { view: 'fleet', id };
    case 'limits':
      return { view: 'limit', name: id, ...some(params, 'key', 'cursor') };
  }
  return undefined;
};

const given = <Name extends string>(params: URLSearchParams, name: Name): Partial<Record<Name, string>> => {
  const value = params.get(name);
  return (value ? { [name]: value } : {}) as Partial<Record<Name, string>>;
};

const some = <Name extends string>(params: URLSearchParams, ...names: readonly Name[]): Partial<Record<Name, string>> =>
  Object.assign({}, ...names.map((name) => given(params, name)));
