// Policies that know neither the words of a task nor what is right on its page: what they reach is what luck reaches.
// A trained policy is worth what it reaches beyond them. Pure: each maps the page as text to the next element to click.

export type BlindPolicy = 'submit' | 'first' | 'every';

type Line = { readonly role: string; readonly name: string; readonly reference: number };

const ENDS = /^(submit|ok|login|search|order!|buy|agree|go!|create|close)$/i;

/**
 * The element to click next, or undefined to wait. `submit`: the button that ends things, at once, else the page's last
 * element. `first`: the first element, then as `submit`. `every`: each element once, in order, then as `submit`.
 */
export function blindTarget(policy: BlindPolicy, page: string, clicked: ReadonlySet<number>): number | undefined {
  const lines = readLines(page);
  const end = lines.findLast(({ role, name }) => role === 'button' && ENDS.test(name)) ?? lines.at(-1);
  const others = lines.filter((line) => line !== end && line.role !== 'text' && line.role !== 'heading');
  const open = others.find(({ reference }) => !clicked.has(reference));
  if (policy === 'every' && open !== undefined) return open.reference;
  if (policy === 'first' && clicked.size === 0) return (others[0] ?? lines[0])?.reference;
  return end?.reference;
}

function readLines(page: string): readonly Line[] {
  return page.split('\n').flatMap((line) => {
    const parts = /^(.+?) "((?:[^"\\]|\\.)*)".*\[(\d+)\]$/.exec(line);
    return parts === null ? [] : [{ role: parts[1], name: parts[2], reference: Number(parts[3]) }];
  });
}
