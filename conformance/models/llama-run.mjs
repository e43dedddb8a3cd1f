// llama.cpp on GGUF files, for the checks of exports. Reads one of these on stdin and writes the answer as JSON:
//   { "greedy": { "file", "prompts": [[id]], "tokens", "stop" } }     [[id]]: continuations
//   { "logprobs": { "file", "ids": [id] } }                           [[number]]: by position, of every token next
//   { "compare": { "files": [reference, ...others], "texts": [[id]], "nearTie" } }
//     for each other file what it does against the reference, teacher-forced at every position of the texts

import { getLlama, LlamaLogLevel } from 'node-llama-cpp';

const EVERYTHING = {
  generateNext: { probabilities: true, token: true, options: { temperature: 1, topK: 0, topP: 1, minP: 0 } },
};

const { greedy, logprobs, compare } = JSON.parse(await new Response(process.stdin).text());
// One thread: two wait for each other in loops that burn what a busy machine has.
const llama = await getLlama({ build: 'never', gpu: false, logLevel: LlamaLogLevel.error, maxThreads: 1 });

async function open(file) {
  const model = await llama.loadModel({ modelPath: file });
  const context = await model.createContext({ contextSize: 512, threads: 1 });
  return context.getSequence();
}

async function continuations({ file, prompts, tokens, stop }) {
  const sequence = await open(file);
  const answers = [];
  for (const prompt of prompts) {
    await sequence.clearHistory();
    const ids = [];
    for await (const id of sequence.evaluate(prompt, { temperature: 0, yieldEogToken: true })) {
      ids.push(id);
      if (ids.length === tokens || id === stop) break;
    }
    answers.push(ids);
  }
  return answers;
}

/** Probabilities of the next token at every position of a text, by token id. */
async function distributions(sequence, ids) {
  await sequence.clearHistory();
  const answers = await sequence.controlledEvaluate(ids.map((id) => [id, EVERYTHING]));
  return answers.map(({ next: { probabilities } }) => {
    const row = new Float64Array(probabilities.size);
    for (const [token, value] of probabilities) row[token] = value;
    return row;
  });
}

function bestTwo(row) {
  let [first, second] = [0, -1];
  for (let token = 1; token < row.length; token++) {
    if (row[token] > row[first]) [first, second] = [token, first];
    else if (second < 0 || row[token] > row[second]) second = token;
  }
  return { first, gap: Math.log(row[first] / row[second]) };
}

function divergence(p, q) {
  let sum = 0;
  for (const [token, value] of p.entries()) if (value > 0) sum += value * Math.log(value / Math.max(q[token], 1e-30));
  return sum;
}

async function comparisons({ files, texts, nearTie }) {
  const [reference, ...others] = await Promise.all(files.map(open));
  const results = others.map(() => ({ positions: 0, nearTies: 0, agreeing: 0, meanKl: 0, largestKl: 0 }));
  for (const ids of texts) {
    const expected = await distributions(reference, ids);
    for (const [i, other] of others.entries()) {
      const found = await distributions(other, ids);
      const result = results[i];
      for (const [at, p] of expected.entries()) {
        const { first, gap } = bestTwo(p);
        const kl = divergence(p, found[at]);
        result.positions++;
        result.meanKl += kl;
        result.largestKl = Math.max(result.largestKl, kl);
        if (gap < nearTie) result.nearTies++;
        else if (bestTwo(found[at]).first === first) result.agreeing++;
      }
    }
  }
  for (const result of results) result.meanKl /= result.positions;
  return results;
}

async function logProbabilities({ file, ids }) {
  const rows = await distributions(await open(file), ids);
  return rows.map((row) => [...row].map((value) => Math.log(Math.max(value, 1e-30))));
}

const answer = greedy
  ? await continuations(greedy)
  : logprobs
    ? await logProbabilities(logprobs)
    : await comparisons(compare);
process.stdout.write(JSON.stringify(answer));
await llama.dispose();
