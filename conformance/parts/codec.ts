// Part D: our codecs against the SDK's own. Python writes messages in many shapes, this process decodes and encodes
// each of them, Python judges the result; and the two descriptors are compared field by field.

import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { toBinary } from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt';
import { file_tinker_public } from '../../src/tinker/wire/generated/tinker_public_pb.ts';
import * as wire from '../../src/tinker/wire/index.ts';
import { mustRun } from '../command.ts';
import type { Context } from '../context.ts';
import { runDriver } from '../python-driver.ts';
import type { VenvName } from '../venvs.ts';

const UTF8 = { in: new TextDecoder(), out: new TextEncoder() } as const;

/** Bytes of one kind of message through our model and back. */
const AGAIN: Readonly<Record<string, (bytes: Uint8Array) => Uint8Array>> = {
  'forward-backward-request': (bytes) => wire.encodeForwardBackwardRequest(wire.decodeForwardBackwardRequest(bytes)),
  'forward-backward-output': (bytes) => wire.encodeForwardBackwardOutput(wire.decodeForwardBackwardOutput(bytes)),
  'sample-response': (bytes) => wire.encodeSampleResponse(wire.decodeSampleResponse(bytes)),
  'sample-request': (bytes) => {
    const request = wire.sampleRequestFromJson(wire.parseJson(UTF8.in.decode(bytes)));
    return UTF8.out.encode(wire.formatJson(wire.sampleRequestToJson(request)));
  },
};

export async function codecPart(context: Context, name: VenvName): Promise<void> {
  const part = `codec ${name}`;
  const venv = await context.venv(name);
  const folder = join(context.work, `codec-${name}`);
  await rm(folder, { recursive: true, force: true });
  const driver = join(import.meta.dirname, '..', 'drivers', 'codec.py');
  await mustRun({
    what: `writing messages with ${name}`,
    command: venv.python,
    args: [driver, 'make', '--out', folder],
    deadlineMs: 120_000,
    log: join(context.logs, `codec-make-${name}.log`),
  });
  await context.report.check(part, 'every message is decoded and encoded again', () => again(folder));
  const descriptor = toBinary(FileDescriptorProtoSchema, file_tinker_public.proto);
  await writeFile(join(folder, 'descriptor.ours'), descriptor);
  await runDriver({
    ...{ report: context.report, part, venv, script: 'codec.py', args: ['compare', '--out', folder] },
    ...{ cwd: context.work, deadlineMs: 120_000, logs: context.logs },
  });
}

async function again(folder: string): Promise<string> {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.in'));
  for (const file of files) {
    const bytes = await readFile(join(folder, file));
    let encoded: Uint8Array;
    try {
      encoded = AGAIN[file.split('.')[0]](bytes);
    } catch (error) {
      throw new Error(`${file} (${bytes.length} bytes)`, { cause: error });
    }
    await writeFile(join(folder, file.replace(/\.in$/, '.out')), encoded);
  }
  if (files.length === 0) throw new Error(`no messages in ${folder}`);
  return `${files.length} messages`;
}
