// What a browser refuses in a cookie. One that it refuses makes it refuse all that come with it, so each is looked at while
// the file is read. As Chromium takes them over the protocol.

export type CookieFields = {
  readonly name: string;
  readonly value: string;
  readonly domain: string;
  readonly path: string;
  readonly secure: boolean;
};

const MAX_BYTES = 4096;
const CONTROL = /[\u0000-\u0008\u000a-\u001f\u007f]/u;
const HOST = /^\.?(?:\[[\da-f:.]+\]|[^\s.:/@?#\\[\]][^\s:/@?#\\[\]]*)$/iu;

/** For a sentence that begins with the cookie; undefined where nothing is wrong. Tells no value: those are secrets. */
export function cookieProblem({ name, value, domain, path, secure }: CookieFields): string | undefined {
  if (/[;=]/u.test(name) || CONTROL.test(name) || name !== name.trim()) {
    return 'has a name with a semicolon, an equals sign, a control character or outer blanks';
  }
  if (value.includes(';') || CONTROL.test(value) || value !== value.trim()) {
    return 'has a value with a semicolon, a control character or outer blanks';
  }
  if (name === '' && value === '') return 'has neither name nor value';
  if (Buffer.byteLength(name + value) > MAX_BYTES) return `has more than ${MAX_BYTES} bytes`;
  if (!HOST.test(domain) || !URL.canParse(`http://${domain.replace(/^\./u, '')}/`)) {
    return 'has a domain that is no host, such as shop.example or .shop.example';
  }
  if ((path !== '' && !path.startsWith('/')) || path.includes(';') || CONTROL.test(path)) {
    return 'has a path that does not begin with a slash, or holds a semicolon or a control character';
  }
  const [prefix] = /^__(?:secure|host)-/iu.exec(name) ?? [];
  if (prefix !== undefined && !secure) return `has a name with ${prefix} and is not secure`;
  if (prefix?.toLowerCase() === '__host-' && path !== '/') return `has a name with ${prefix} and a path that is not /`;
  return undefined;
}
