/**
 * Lays out JSON for reading without parsing it, so that every number, string and key is shown exactly as it was stored.
 * Pure.
 */

/** A piece of the text. White space and brackets have the kind `mark`. */
export interface Token {
  readonly kind: 'key' | 'string' | 'number' | 'word' | 'mark';
  readonly text: string;
}

const PIECES = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/gs;
const INDENT = '  ';

/** @param json valid JSON. The function also lays out any other text, and then loses at most white space. */
export const jsonTokens = (json: string): readonly Token[] => {
  const pieces = json.match(PIECES) ?? [];
  const tokens: Token[] = [];
  let depth = 0;
  const mark = (text: string): number => tokens.push({ kind: 'mark', text });
  const newLine = (): string => `\n${INDENT.repeat(Math.max(0, depth))}`;
  pieces.forEach((piece, index) => {
    const next = pieces[index + 1];
    if (piece === '{' || piece === '[') {
      depth += 1;
      mark(isEnd(next) ? piece : `${piece}${newLine()}`);
    } else if (isEnd(piece)) {
      depth -= 1;
      mark(isStart(pieces[index - 1]) ? piece : `${newLine()}${piece}`);
    } else if (piece === ',') mark(`,${newLine()}`);
    else if (piece === ':') mark(': ');
    else tokens.push({ kind: kindOf(piece, next), text: piece });
  });
  return tokens;
};

const isStart = (piece: string | undefined): boolean => piece === '{' || piece === '[';
const isEnd = (piece: string | undefined): boolean => piece === '}' || piece === ']';

const kindOf = (piece: string, next: string | undefined): Token['kind'] => {
  if (piece.startsWith('"')) return next === ':' ? 'key' : 'string';
  return /^-?\d/.test(piece) ? 'number' : 'word';
};
