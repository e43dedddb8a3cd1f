// Compares the methods here with those of another Browser REPL's published reference, by name and parameters. Prose is not
// compared: what a method does is what tests are for.

export type ReferenceDifference =
  | { readonly kind: 'missing-here' | 'missing-there'; readonly method: string }
  | { readonly kind: 'changed'; readonly method: string; readonly here: string; readonly there: string };

/** `references` is text in which signatures stand in code spans, as headings or in bold: Markdown of either side. */
export function compareReferences(here: string, there: string): readonly ReferenceDifference[] {
  const [ours, theirs] = [signatures(here), signatures(there)];
  const names = [...new Set([...ours.keys(), ...theirs.keys()])].sort();
  return names.flatMap((method): ReferenceDifference[] => {
    const [own, other] = [ours.get(method), theirs.get(method)];
    if (own === undefined) return [{ kind: 'missing-here', method }];
    if (other === undefined) return [{ kind: 'missing-there', method }];
    return shape(own) === shape(other) ? [] : [{ kind: 'changed', method, here: own, there: other }];
  });
}

/** By qualified name; those of `browser` without it. */
function signatures(text: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const line of text.split('\n')) {
    const signature = /^(?:#{2,6} |[-*] \*\*)`([^`]+)`/.exec(line)?.[1];
    const name = signature === undefined ? undefined : /^((?:[A-Za-z]+\.)?[A-Za-z]+)\(/.exec(signature)?.[1];
    if (signature !== undefined && name !== undefined) found.set(name.replace(/^browser\./, ''), signature);
  }
  return found;
}

/** Which parameters there are and which may be left out; names differ between references and do not matter. */
function shape(signature: string): string {
  const inside = signature.slice(signature.indexOf('(') + 1, signature.lastIndexOf(')'));
  return parameters(inside)
    .map((parameter) => (/\?$|^[A-Za-z]+\?|^[A-Za-z]+ = /.test(parameter) ? 'optional' : 'required'))
    .join(' ');
}

/** Divides at the commas that are not inside brackets. */
function parameters(text: string): readonly string[] {
  const parts = [''];
  let depth = 0;
  for (const character of text) {
    if ('{[('.includes(character)) depth++;
    if ('}])'.includes(character)) depth--;
    if (character === ',' && depth === 0) parts.push('');
    else parts[parts.length - 1] += character;
  }
  return parts.map((part) => part.trim()).filter((part) => part !== '');
}

export function describeDifference(difference: ReferenceDifference): string {
  switch (difference.kind) {
    case 'missing-here':
      return `missing here: ${difference.method}`;
    case 'missing-there':
      return `only here: ${difference.method}`;
    case 'changed':
      return `changed: ${difference.method}: here ${difference.here}, there ${difference.there}`;
    default:
      return difference satisfies never;
  }
}
