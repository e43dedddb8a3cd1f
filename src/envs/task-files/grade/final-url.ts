// Whether an address is one of the references. Parsed, not searched as text: another host, or a path that only begins
// with the same letters, is another page. Pure.
//
// `contained` (WebArena's "GOLD in PRED"): the same host, the reference's path or one below it, and every parameter of
// the reference with its value. `exact` (VisualWebArena): the same address. A slash at the end never matters, nor does
// http against https. Alternatives are looked at one by one: the path of one and the parameters of another do not add up.

export type UrlRule = 'contained' | 'exact';

/** What does not hold; undefined where one reference does. */
export function urlProblem(final: string, references: readonly string[], rule: UrlRule): string | undefined {
  if (!URL.canParse(final)) return 'the last address is none';
  const at = new URL(final);
  const problems = references.map((text) => {
    if (!URL.canParse(text)) return 'the reference is no address';
    const wanted = new URL(text);
    return rule === 'exact' ? exactProblem(at, wanted) : containedProblem(at, wanted);
  });
  return problems.includes(undefined) ? undefined : (problems[0] ?? 'there is no reference');
}

function exactProblem(at: URL, wanted: URL): string | undefined {
  if (at.host !== wanted.host) return 'another host';
  if (pathOf(at) !== pathOf(wanted)) return 'another path';
  const query = ({ searchParams }: URL): string => JSON.stringify([...searchParams]);
  if (query(at) !== query(wanted)) return 'another query';
  return at.hash === wanted.hash || wanted.hash === '' ? undefined : 'another fragment';
}

function containedProblem(at: URL, wanted: URL): string | undefined {
  if (at.host !== wanted.host) return 'another host';
  const [path, below] = [pathOf(at), pathOf(wanted)];
  if (path !== below && !path.startsWith(`${below}/`)) return 'another path';
  for (const name of new Set(wanted.searchParams.keys())) {
    const given = at.searchParams.getAll(name);
    if (!wanted.searchParams.getAll(name).some((value) => given.includes(value))) return `another value of ${name}`;
  }
  return undefined;
}

function pathOf({ pathname }: URL): string {
  let path = pathname;
  try {
    path = decodeURIComponent(pathname);
  } catch {
    // Not every path is an encoding of something; as it is, it can still be compared.
  }
  return path.replace(/\/+$/u, '');
}
