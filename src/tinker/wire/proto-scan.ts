// Looks over a protobuf message before it is decoded: counts what would become objects, so that a few megabytes of
// empty messages cannot become gigabytes. Steps over contents; judges nothing else.

import type { DescMessage } from '@bufbuild/protobuf';
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import type { DecodeLimits } from './limits.ts';
import { malformed, tooLarge } from './wire-error.ts';

/** Nesting of the schema is fixed, so recursion is too; what is unknown is stepped over. */
export function scanProto(bytes: Uint8Array, schema: DescMessage, limits: DecodeLimits): void {
  if (bytes.length > limits.maxBytes) throw tooLarge('bytes of a message', bytes.length, limits.maxBytes);
  try {
    countParts({ bytes, schema, parts: 0, maxParts: limits.maxParts });
  } catch (error) {
    throw asMalformed(error, schema);
  }
}

/** The runtime's own failures as this project's. */
export function asMalformed(error: unknown, schema: DescMessage): unknown {
  if (error instanceof Error && error.name !== 'TabwrightError') return malformed(schema.name, 'it cannot be decoded');
  return error;
}

type Count = {
  readonly bytes: Uint8Array;
  readonly schema: DescMessage;
  readonly parts: number;
  readonly maxParts: number;
};

function countParts({ bytes, schema, parts, maxParts }: Count): number {
  const reader = new BinaryReader(bytes);
  const fields = new Map(schema.fields.map((field) => [field.number, field]));
  const add = (count: number): void => {
    parts += count;
    if (parts > maxParts) throw tooLarge(`parts of a ${schema.name}`, parts, maxParts);
  };
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    // Unknown and scalar fields are kept too, one object each.
    add(1);
    const field = fields.get(number);
    if (wireType !== WireType.LengthDelimited) {
      reader.skip(wireType, number);
      continue;
    }
    const content = reader.bytes();
    // Packed numbers become one object each.
    if (field?.fieldKind === 'list' && field.listKind === 'scalar') add(content.length);
    const inner = innerMessage(field);
    if (inner === undefined) continue;
    for (const body of field?.fieldKind === 'map' ? mapValues(content) : [content]) {
      parts = countParts({ bytes: body, schema: inner, parts, maxParts });
    }
  }
  return parts;
}

function innerMessage(field: DescMessage['fields'][number] | undefined): DescMessage | undefined {
  if (field === undefined) return undefined;
  if (field.fieldKind === 'message') return field.message;
  if (field.fieldKind === 'list' && field.listKind === 'message') return field.message;
  if (field.fieldKind === 'map' && field.mapKind === 'message') return field.message;
  return undefined;
}

/** Field 2 of a map entry, as often as it is there. */
function mapValues(entry: Uint8Array): readonly Uint8Array[] {
  const reader = new BinaryReader(entry);
  const values: Uint8Array[] = [];
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    if (number === 2 && wireType === WireType.LengthDelimited) values.push(reader.bytes());
    else reader.skip(wireType, number);
  }
  return values;
}
