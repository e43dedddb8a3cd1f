#!/bin/sh
# Makes src/tinker/wire/generated/tinker_public_pb.ts of src/tinker/wire/tinker_public.proto. Needed only after the .proto
# has changed; the result is committed. The two tools are fetched into a temporary folder, never into this package.
# Usage: sh scripts/generate-proto.sh

set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cd "$work"
npm init -y >/dev/null
npm install --ignore-scripts --no-audit --no-fund @bufbuild/buf@1.75.0 @bufbuild/protoc-gen-es@2.13.0 >/dev/null
cp "$root/src/tinker/wire/tinker_public.proto" .
echo 'version: v2' >buf.yaml
cat >buf.gen.yaml <<'YAML'
version: v2
plugins:
  - local: ./node_modules/.bin/protoc-gen-es
    out: generated
    opt: [target=ts, import_extension=ts, erasable_syntax=true]
YAML
npx buf generate
# It needs no exemption from this project's rules, and an unused one is a finding.
grep -v eslint-disable generated/tinker_public_pb.ts >"$root/src/tinker/wire/generated/tinker_public_pb.ts"
"$root/node_modules/.bin/prettier" --write "$root/src/tinker/wire/generated/tinker_public_pb.ts"
