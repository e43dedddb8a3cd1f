// Ids of llama.cpp for texts: reads a JSON array of strings on stdin, writes an array of arrays of ids to stdout.
// Control tokens are text here, as in untrusted content. node llama-tokens.mjs <file.gguf>

import { getLlama, LlamaLogLevel } from 'node-llama-cpp';

const texts = JSON.parse(await new Response(process.stdin).text());
const llama = await getLlama({ build: 'never', gpu: false, logLevel: LlamaLogLevel.error });
const model = await llama.loadModel({ modelPath: process.argv[2], vocabOnly: true });
process.stdout.write(JSON.stringify(texts.map((text) => Array.from(model.tokenize(text, false)))));
await model.dispose();
await llama.dispose();
