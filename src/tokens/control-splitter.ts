// Finds control tokens in text: leftmost, and of those the longest, as the Rust tokenizers do. It knows nothing of
// words or of models.

export type ControlToken = {
  readonly id: number;
  readonly content: string;
  /** Whether white space before or after it belongs to it and is dropped. */
  readonly lstrip: boolean;
  readonly rstrip: boolean;
};

/** A stretch of text, or a control token with its id. */
export type Piece = { readonly text: string; readonly id?: number };

export function controlSplitter(tokens: readonly ControlToken[]): (text: string) => readonly Piece[] {
  const byContent = new Map(tokens.map((token) => [token.content, token]));
  const starts = new Set(tokens.map(({ content }) => content.charAt(0)));
  const lengths = [...new Set(tokens.map(({ content }) => content.length))].sort((a, b) => b - a);

  const at = (text: string, position: number): ControlToken | undefined => {
    for (const length of lengths) {
      const token = byContent.get(text.slice(position, position + length));
      if (token !== undefined) return token;
    }
    return undefined;
  };

  return (text) => {
    const pieces: Piece[] = [];
    let from = 0;
    for (let position = 0; position < text.length;) {
      const token = starts.has(text.charAt(position)) ? at(text, position) : undefined;
      if (token === undefined) {
        position += 1;
        continue;
      }
      let before = text.slice(from, position);
      if (token.lstrip) before = before.trimEnd();
      if (before !== '') pieces.push({ text: before });
      pieces.push({ text: token.content, id: token.id });
      position += token.content.length;
      if (token.rstrip) while (/\s/.test(text.charAt(position))) position += 1;
      from = position;
    }
    if (from < text.length) pieces.push({ text: text.slice(from) });
    return pieces;
  };
}
