// llama.cpp on GGUF files, for the tests of exports. Reads on stdin
//   { "greedy": { "file", "prompts": [[id]], "tokens" } }                    and writes [[id]], or
//   { "compare": { "files": [reference, other], "texts": [[id]] } }          and writes { positions, agreeing, meanKl }:
// of every next token of the texts, how often both prefer the same and the mean divergence of the distributions.

import { getLlama, LlamaLogLevel } from 'node-llama-cpp';

const { greedy, compare } = JSON.parse(await new Response(process.stdin).text());
const llama = await getLlama({ build: 'never', gpu: false, logLevel: LlamaLogLevel.error, maxThreads: 2 });

async function withSequence(file, contextSize, work) {
  const model = await llama.loadModel({ modelPath: file });
  const context = await model.createContext({ contextSize, threads: 2 });
  const sequence = context.getSequence();
  const result = await work(sequence, model);
  await context.dispose();
  await model.dispose();
  return result;
}

async function continuations({ file, prompts, tokens }) {
  return withSequence(file, 512, async (sequence, model) => {
    const answers = [];
    for (const prompt of prompts) {
      await sequence.clearHistory();
      const ids = [];
      for await (const id of sequence.evaluate(prompt, { temperature: 0, yieldEogToken: true })) {
        ids.push(id);
        if (ids.length === tokens || id === model.tokens.eos) break;
      }
      answers.push(ids);
    }
    return answers;
  });
}

async function distributions(file, texts) {
  return withSequence(file, 512, async (sequence) => {
    const all = [];
    for (const ids of texts) {
      await sequence.clearHistory();
      const wanted = ids.map((id) => [
        id,
        { generateNext: { probabilities: true, token: true, options: { temperature: 1, topK: 0, topP: 1, minP: 0 } } },
      ]);
      for (const answer of await sequence.controlledEvaluate(wanted)) all.push(answer.next.probabilities);
    }
    return all;
  });
}

async function comparison({ files: [reference, other], texts }) {
  const p = await distributions(reference, texts);
  const q = await distributions(other, texts);
  let [agreeing, sum] = [0, 0];
  const best = (map) => [...map].reduce((a, b) => (b[1] > a[1] ? b : a))[0];
  for (const [i, map] of p.entries()) {
    if (best(map) === best(q[i])) agreeing++;
    for (const [token, value] of map)
      if (value > 0) sum += value * Math.log(value / Math.max(q[i].get(token) ?? 0, 1e-30));
  }
  return { positions: p.length, agreeing, meanKl: sum / p.length, vocabulary: p[0].size };
}

process.stdout.write(JSON.stringify(greedy ? await continuations(greedy) : await comparison(compare)));
await llama.dispose();
