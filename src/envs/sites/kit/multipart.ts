// Bodies of forms with files (RFC 7578), as browsers send them. Text only: what is uploaded here is compared as text.

export type Uploaded = { readonly name: string; readonly text: string };

export function readMultipart(
  body: Uint8Array,
  contentType: string,
): { readonly form: URLSearchParams; readonly files: ReadonlyMap<string, Uploaded> } {
  const form = new URLSearchParams();
  const files = new Map<string, Uploaded>();
  const boundary = /boundary="?([^";]+)"?/.exec(contentType)?.[1];
  if (boundary === undefined) return { form, files };
  const parts = Buffer.from(body).toString('utf8').split(`--${boundary}`).slice(1, -1);
  for (const part of parts) {
    const end = part.indexOf('\r\n\r\n');
    const head = part.slice(0, end);
    const text = part.slice(end + 4, -2); // between the empty line and the line break before the boundary
    const name = /[;\s]name="([^"]*)"/.exec(head)?.[1];
    if (name === undefined) continue;
    const fileName = /filename="([^"]*)"/.exec(head)?.[1];
    if (fileName === undefined) form.append(name, text.replace(/\r\n/g, '\n'));
    else if (fileName !== '') files.set(name, { name: fileName, text });
  }
  return { form, files };
}
