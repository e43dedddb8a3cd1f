// Which codec a message uses, said by its headers. Decides nothing about versions: headers are all there is to go by.

export const PROTOBUF = 'application/x-protobuf';
export const JSON_TYPE = 'application/json';

/** True for a body that its `Content-Type` calls protobuf, parameters or not. */
export function isProtobuf(contentType: string | null | undefined): boolean {
  return mediaTypes(contentType ?? '').includes(PROTOBUF);
}

/** True where the `Accept` header names protobuf. SDKs up to 0.24 name both and read both. */
export function acceptsProtobuf(accept: string | null | undefined): boolean {
  return isProtobuf(accept);
}

function mediaTypes(header: string): readonly string[] {
  return header.split(',').map((part) => part.split(';')[0].trim().toLowerCase());
}
