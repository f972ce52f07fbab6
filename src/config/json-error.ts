/** Finds where a text stops being JSON. `JSON.parse` does not report this for every error. */

const SPACE = /[ \t\n\r]*/y;
const STRING = /"(?:[^"\\\p{Cc}]|[\x7f-\x9f]|\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4}))*"/uy;
const OTHER = /(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)/y;

/** Offset of the first character that JSON does not allow there. Undefined if the text is JSON. */
export const offsetOfJsonError = (text: string): number | undefined => {
  const reader = new Reader(text);
  return reader.value() && reader.isAtEnd() ? undefined : reader.at;
};

/** Each method returns whether it could read, and leaves `at` at the end, or at the error. */
class Reader {
  readonly #text: string;
  at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  isAtEnd(): boolean {
    this.#take(SPACE);
    return this.at === this.#text.length;
  }

  value(): boolean {
    if (this.#mark('{')) return this.#list('}', () => this.#take(STRING) && this.#mark(':') && this.value());
    if (this.#mark('[')) return this.#list(']', () => this.value());
    return this.#take(STRING) || this.#take(OTHER);
  }

  #list(end: string, member: () => boolean): boolean {
    if (this.#mark(end)) return true;
    do {
      this.#take(SPACE);
      if (!member()) return false;
    } while (this.#mark(','));
    return this.#mark(end);
  }

  /** Reads a character, with the space around it. */
  #mark(character: string): boolean {
    this.#take(SPACE);
    if (this.#text[this.at] !== character) return false;
    this.at += 1;
    this.#take(SPACE);
    return true;
  }

  #take(pattern: RegExp): boolean {
    pattern.lastIndex = this.at;
    if (!pattern.test(this.#text)) return false;
    this.at = pattern.lastIndex;
    return true;
  }
}
