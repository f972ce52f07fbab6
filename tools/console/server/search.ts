/** Finds names by a part of them: which names match, and in which order. Pure. */
import { percentDecoded } from '../../../src/util/percent.ts';
import type { Hit } from './shapes.ts';

/** A name that can be found. */
export interface Named {
  readonly kind: Hit['kind'];
  readonly id: string;
  /** Another text by which it is found: the name of a list, or the user key of a fan-out. */
  readonly about?: string | undefined;
}

/** How well a text matches; the smallest is the best. */
const [EXACT, BEGINS, BEGINS_PART, CONTAINS] = [0, 1, 2, 3] as const;

/** Separates the parts of a Target and of an id. */
const SEPARATOR = /[/=.:#_\-\s]/;

/** The names that contain the query, whatever its case, the best match first. @param query not empty. */
export const matching = (names: readonly Named[], query: string): readonly Hit[] => {
  const wanted = query.toLowerCase();
  return names
    .flatMap((named) => {
      const scores = textsOf(named).flatMap((text) => scoreOf(text.toLowerCase(), wanted) ?? []);
      return scores.length === 0 ? [] : [{ named, score: Math.min(...scores) }];
    })
    .toSorted(
      (a, b) => a.score - b.score || a.named.id.length - b.named.id.length || (a.named.id < b.named.id ? -1 : 1),
    )
    .map(({ named: { kind, id, about }, score }) => ({
      kind,
      id,
      ...(about === undefined ? {} : { about }),
      ...(score === EXACT && id.toLowerCase() === wanted ? { isExact: true as const } : {}),
    }));
};

/** The values in a Target are percent-encoded, but a user may type them as they are in the payload. */
const textsOf = ({ kind, id, about }: Named): readonly string[] => {
  const part = kind === 'target' ? [id.slice(id.indexOf('/') + 1)] : [];
  const texts = [id, ...part, ...(about === undefined ? [] : [about])];
  return [...texts, ...texts.flatMap((text) => (text.includes('%') ? (percentDecoded(text) ?? []) : []))];
};

const scoreOf = (text: string, wanted: string): number | undefined => {
  const at = text.indexOf(wanted);
  if (at < 0) return undefined;
  if (at === 0) return text.length === wanted.length ? EXACT : BEGINS;
  for (let next = at; next > 0; next = text.indexOf(wanted, next + 1))
    if (SEPARATOR.test(text.charAt(next - 1))) return BEGINS_PART;
  return CONTAINS;
};
