/**
 * Finds the keys of the configuration in the text of its file: in JSON, and in a module that exports an object literal.
 *
 * It knows only the parts of JavaScript that configurations usually have. It leaves out each key whose value could come
 * from elsewhere, and finds nothing in a text that it does not understand: a wrong line would mislead more than none.
 */

/** Where the keys of an object literal are. */
export interface Keys {
  /** Offset of the key at a path, or of the literal that should contain the key. Undefined if neither is known. */
  find(path: string): number | undefined;
}

/** @param kind of the file. */
export const keysOf = (text: string, kind: 'json' | 'module'): Keys => {
  const start = kind === 'json' ? text.search(/\S/) : literalIn(text);
  const found = start === undefined ? undefined : new Scanner(text, start).scan();
  return { find: (path) => (found?.has(path) ? found.get(path) : parentOf(found, path))?.offset };
};

interface Place {
  readonly offset: number;
  /** Whether the value is a literal with exactly the keys that were found in it. */
  readonly isComplete: boolean;
}

type Places = ReadonlyMap<string, Place | undefined>;

/** The place of the literal that lacks the last key of the path. */
const parentOf = (found: Places | undefined, path: string): Place | undefined => {
  const parent = found?.get(path.slice(0, Math.max(0, path.lastIndexOf('.'))));
  return parent?.isComplete && path !== '' ? parent : undefined;
};

/** Offset of the object literal that a module exports. Undefined if there is no literal, or more than one candidate. */
const literalIn = (text: string): number | undefined => {
  const direct = only(text, /^export default (?:defineConfig\()?\s*(?=\{)/gm);
  if (direct !== undefined) return direct;
  const name = /^export default (?<name>\w+);?$/m.exec(text)?.groups?.name;
  // A program may change the object later.
  if (name === undefined || new RegExp(`\\b${name}[.[]`).test(text)) return undefined;
  return only(text, new RegExp(`^(?:export )?const ${name}(?:: \\w+)? = (?:defineConfig\\()?\\s*(?=\\{)`, 'gm'));
};

/** Offset of the end of the only match. */
const only = (text: string, pattern: RegExp): number | undefined => {
  const [match, ...others] = text.matchAll(pattern);
  return match && others.length === 0 ? match.index + match[0].length : undefined;
};

/** The text contains something that the scanner does not know. */
class Unknown extends Error {}

const TRIVIA = /(?:\s|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y;
const KEY = /[\p{ID_Start}$_][\p{ID_Continue}$]*|\d+/uy;
const STRING = /"(?:[^"\\\n]|\\[\s\S])*"|'(?:[^'\\\n]|\\[\s\S])*'/y;
/** A template literal. Its substitutions may contain names and the like, but no braces and no other template. */
const TEMPLATE = /`(?:[^`\\$]|\\[\s\S]|\$(?!\{)|\$\{[^{}`]*\})*`/y;
/** Characters of an expression without brackets, quotes, commas and comments. */
const PLAIN = /[^[\](){}'"`,;/]+/y;
/** Text after a literal that does not change its value. */
const AFTER = /(?:\s*(?:as|satisfies) \w+)?(?:\s|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*(?=[,;)}\]]|$)/y;
const CLOSING: Readonly<Record<string, string>> = { '{': '}', '[': ']', '(': ')' };

const SEPARATOR = '\u0000';

const under = (path: string, key: string): string => (path === '' ? key : `${path}${SEPARATOR}${key}`);

/** If a key contains a dot, several keys may have the same path. Their places are then undefined. */
const byDottedPath = (found: ReadonlyMap<string, Place>): Places => {
  const dotted = new Map<string, Place | undefined>();
  for (const [path, place] of found) {
    const name = path.replaceAll(SEPARATOR, '.');
    dotted.set(name, dotted.has(name) ? undefined : place);
  }
  return dotted;
};

class Scanner {
  readonly #text: string;
  /** The places by path, with a separator that keys hardly ever contain. */
  readonly #found = new Map<string, Place>();
  #at: number;

  constructor(text: string, start: number) {
    this.#text = text;
    this.#at = start;
  }

  /** The places by path, with dots. Empty if the text contains something unknown. */
  scan(): Places {
    try {
      this.#value('', this.#at);
    } catch (cause) {
      if (cause instanceof Unknown) return new Map();
      throw cause;
    }
    return byDottedPath(this.#found);
  }

  /** @param offset of the value's key. */
  #value(path: string, offset: number): void {
    this.#skip(TRIVIA);
    const opening = this.#text[this.#at];
    let isComplete = opening === '{' ? this.#object(path) : opening === '[' && this.#array(path);
    const isLiteral = opening === '{' || opening === '[';
    if (!(isLiteral && this.#skip(AFTER))) {
      // Either there is no literal, or it is only a part of an expression, such as `{ … }.ship`.
      this.#forgetBelow(path);
      this.#expression();
      isComplete = false;
    }
    this.#found.set(path, { offset, isComplete });
  }

  /** @returns whether all keys are known. */
  #object(path: string): boolean {
    let isComplete = true;
    this.#at += 1;
    for (; !this.#isNext('}'); this.#comma('}')) {
      const offset = this.#at;
      if (this.#text.startsWith('...', offset) || this.#text[offset] === '[') {
        // It may contain any key, and then replaces the keys before it.
        this.#forgetBelow(path);
        isComplete = false;
        this.#expression();
        continue;
      }
      const below = under(path, this.#key());
      this.#forgetBelow(below);
      this.#skip(TRIVIA);
      if (this.#text[this.#at] === ':') {
        this.#at += 1;
        this.#value(below, offset);
      } else if (/[,}]/.test(this.#text[this.#at] ?? '')) this.#found.set(below, { offset, isComplete: false });
      else throw new Unknown();
    }
    this.#at += 1;
    return isComplete;
  }

  #array(path: string): boolean {
    let index: number | undefined = 0;
    this.#at += 1;
    for (; !this.#isNext(']'); this.#comma(']')) {
      if (this.#text.startsWith('...', this.#at)) index = undefined;
      if (index === undefined) this.#expression();
      else {
        this.#value(under(path, String(index)), this.#at);
        index += 1;
      }
    }
    this.#at += 1;
    return index !== undefined;
  }

  /** Skips an expression up to the comma or bracket that ends it. */
  #expression(): void {
    for (;;) {
      this.#skip(TRIVIA);
      const next = this.#text[this.#at];
      if (next === undefined || /[,;)}\]]/.test(next)) return;
      if (CLOSING[next] !== undefined) this.#bracket(CLOSING[next]);
      else if (!(this.#skip(STRING) || this.#skip(TEMPLATE) || this.#skip(PLAIN))) throw new Unknown();
    }
  }

  #bracket(closing: string): void {
    this.#at += 1;
    for (;;) {
      this.#expression();
      const end = this.#text[this.#at];
      this.#at += 1;
      if (end === closing) return;
      if (end !== ',' && end !== ';') throw new Unknown();
    }
  }

  #key(): string {
    const start = this.#at;
    if (this.#skip(KEY)) return this.#text.slice(start, this.#at);
    if (!this.#skip(STRING)) throw new Unknown();
    const inside = this.#text.slice(start + 1, this.#at - 1);
    // Its path would be that of the object around it.
    if (inside === '') throw new Unknown();
    if (!inside.includes('\\')) return inside;
    if (this.#text[start] !== '"') throw new Unknown();
    return JSON.parse(`"${inside}"`) as string;
  }

  /** Forgets a path and all paths below it. The root stays. */
  #forgetBelow(path: string): void {
    for (const known of this.#found.keys())
      if (path === '' || known === path || known.startsWith(under(path, ''))) this.#found.delete(known);
  }

  #isNext(closing: string): boolean {
    this.#skip(TRIVIA);
    return this.#text[this.#at] === closing;
  }

  /** Skips the comma after a member, which the last member need not have. */
  #comma(closing: string): void {
    this.#skip(TRIVIA);
    if (this.#text[this.#at] === ',') this.#at += 1;
    else if (this.#text[this.#at] !== closing) throw new Unknown();
  }

  #skip(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at;
    const isThere = pattern.test(this.#text);
    if (isThere) this.#at = pattern.lastIndex;
    return isThere;
  }
}
