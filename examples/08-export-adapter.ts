// What was trained as a PEFT adapter on this machine, which vLLM, llama.cpp's converters and `tabwright serve` read.

import { readFile } from 'node:fs/promises';
import { at, MODEL, more, tabwright } from './workflow.ts';

const lines = (await readFile(at('train', 'checkpoints.jsonl'), 'utf8')).trim().split('\n');
const path = lines.map((line) => (JSON.parse(line) as { sampler_path?: string }).sampler_path).findLast(Boolean);
if (path === undefined) throw new Error('No checkpoint for sampling: is the training complete?');
const base = MODEL.replace(/^tinker:/, 'hf:');
await tabwright('model', 'export', '--from', path, '--base', base, '--adapter', at('adapter'), ...more);
