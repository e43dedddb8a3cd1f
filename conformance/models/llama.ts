// Our GGUF files of SmolLM2 with an adapter folded in, in llama.cpp: F16 continues 24 prompts for 64 tokens as transformers
// does with the merged folder; Q8_0 keeps its bounds; tensors are those of the `gguf` package, byte for byte.
// Usage: npx tsx conformance/models/llama.ts      (after prepare.ts)

import { writeAdaptedSmolLm2 } from './adapted-smollm2.ts';
import {
  agreementOf,
  describeRounded,
  judgeLlama,
  LEAST_POSITIONS,
  Q8_LEAST_AGREEMENT,
  Q8_MOST_DIVERGENCE,
} from './llama-verdict.ts';
import { requireOracles } from './places.ts';

requireOracles();
await using model = await writeAdaptedSmolLm2();
let [passed, failed] = [0, 0];

for (const type of ['F16', 'Q8_0'] as const) {
  const { tensors, bytes, different } = await model.compareWithPeer(type);
  check(`${type}: ${tensors} tensors, ${bytes} bytes as gguf writes them, different: ${different.join() || 'none'}`, [
    tensors === 272,
    different.length === 0,
  ]);
}
const { greedy, ours, peer } = await judgeLlama(model, { prompts: model.prompts, tokens: 64 });
for (const line of greedy.different) console.log(`F16 ${line}`);
check(
  `F16: ${greedy.identical} of ${model.prompts.length} continuations identical, ${greedy.excused} excused at near-ties ` +
    `(${greedy.tokens} tokens, ${greedy.nearTies} near-ties)`,
  [greedy.different.length === 0],
);
for (const [name, verdict] of [
  ['Q8_0', ours],
  ["gguf's Q8_0", peer],
] as const) {
  check(describeRounded(name, verdict), [
    verdict.positions >= LEAST_POSITIONS,
    agreementOf(verdict) >= Q8_LEAST_AGREEMENT,
    verdict.meanKl > 0 && verdict.meanKl <= Q8_MOST_DIVERGENCE,
  ]);
}
check("Q8_0 is in llama.cpp what gguf's is", [ours.meanKl === peer.meanKl, ours.agreeing === peer.agreeing]);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;

function check(line: string, holds: readonly boolean[]): void {
  const good = holds.every(Boolean);
  console.log(`${good ? 'ok    ' : 'FAILED'} ${line}`);
  if (good) passed++;
  else failed++;
}
