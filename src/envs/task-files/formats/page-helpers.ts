// Helpers of WebArena's and VisualWebArena's files that only read a page, as expressions over its document. Those that ask
// a site's own interface are not here, and are told by name where a file uses them.

/** The expression, or the name of a helper that is not known; undefined where `locator` is no helper's call. */
export function pageHelper(
  locator: string,
): { readonly expression: string } | { readonly unknown: string } | undefined {
  const name = /^func:(\w+)/u.exec(locator)?.[1];
  if (name === undefined) return undefined;
  const [, , given] = /^func:\w+\(\s*__page__\s*,\s*(['"])(.*)\1\s*\)$/su.exec(locator) ?? [];
  if (given === undefined) return { unknown: name };
  const text = JSON.stringify(given.replaceAll(/\\(['"\\])/gu, '$1'));
  switch (name) {
    // Texts are compared in small letters anyway.
    case 'get_query_text':
    case 'get_query_text_lowercase':
      return { expression: `document.querySelector(${text}).textContent` };
    case 'gitlab_get_project_memeber_role':
      return { expression: memberRole(text) };
    default:
      return { unknown: name };
  }
}

/** In a table of members: what stands as the role beside the account. */
function memberRole(account: string): string {
  const accounts = `[...document.querySelectorAll("td[data-label='Account'] span.gl-avatar-labeled-sublabel")]`;
  const place = `${accounts}.findIndex((one) => one.outerText === '@' + ${account})`;
  return `document.querySelectorAll('td.col-max-role span')[${place}].outerText`;
}
