// Sequences that are decoded together, a token each a step. Rows join between two steps, whatever their length, and leave
// as they end. Rows that share a prompt read it once. Knows nothing of calls and of how distributions are computed.

import { MIN_SEQUENCES, type Decoder, type ReadPrompt } from './decoder.ts';
import { RowCache } from './row-cache.ts';
import { extendRows, type Row } from './sampled-rows.ts';
import { SharedPrompts } from './shared-prompts.ts';

/** Larger batches gain nothing on a CPU and cost memory. */
const MAX_SEQUENCES = 64;
/** Places of a cache are multiples of this; a row's numbers are the same at each of them. */
const PLACES = 64;

export class RunningBatch {
  readonly #decoder: Decoder;
  readonly #cache: RowCache;
  readonly #prompts: SharedPrompts | undefined;
  /** How the first token after a prompt is drawn, by prompt of the running rows. */
  readonly #first = new Map<string, ReadPrompt['draw']>();
  readonly #rows: Row[] = [];
  /** A lone row stands twice in the cache, since single rows are computed otherwise. */
  #mirrored = false;

  constructor(decoder: Decoder) {
    const { layers, kvHeads, headDim } = decoder.config;
    this.#decoder = decoder;
    this.#cache = new RowCache({ layers, heads: kvHeads, size: headDim });
    this.#prompts = decoder.sharesPrompts ? new SharedPrompts(decoder.config) : undefined;
  }

  /** Those that run. */
  get rows(): readonly Row[] {
    return this.#rows;
  }

  /** Rows that may join. */
  get free(): number {
    return MAX_SEQUENCES - this.#rows.length;
  }

  /** Reads the prompts of rows that have no token yet, those that no running row has, and draws the first token of each. */
  async join(rows: readonly Row[]): Promise<void> {
    const fresh = new Map(rows.filter(({ key }) => !this.#first.has(key)).map((row) => [row.key, row.prompt]));
    const read = await this.#decoder.read([...fresh.values()]);
    const prompts = new Map([...fresh.keys()].map((key, i) => [key, read[i]]));
    this.#tell(rows, prompts);
    extendRows(rows, (row) => (prompts.get(row.key)?.draw ?? this.#first.get(row.key)!)(row));
    const joining = rows.filter(({ stop }) => stop === undefined);
    this.#reserve([...this.#rows, ...joining]);
    for (const row of joining) {
      this.#fill(this.#rows.length, row, prompts.get(row.key));
      this.#rows.push(row);
      this.#mirrored = false;
    }
  }

  /** Draws one token more for each row; those that have ended then leave. */
  async step(): Promise<void> {
    const rows = this.#rows;
    this.#reserve(rows);
    const lines = rows.length < MIN_SEQUENCES ? [rows[0], rows[0]] : rows;
    if (lines !== rows && !this.#mirrored) {
      this.#cache.copy(0, 1, this.#filled(rows[0]));
      this.#mirrored = true;
    }
    const draws = await this.#decoder.step(lines, this.#cache, this.#prompts);
    extendRows(rows, draws);
    this.leave();
  }

  /** How much of its prompt each request found here: all of it where another one has read it, or reads it now. */
  #tell(rows: readonly Row[], read: ReadonlyMap<string, ReadPrompt>): void {
    const readers = new Set<string>();
    for (const { sample, key, prompt, job } of rows) {
      if (sample > 0) continue;
      const own = readers.has(key) ? undefined : read.get(key);
      readers.add(key);
      job.request.onPrompt?.(own === undefined ? prompt.length : (own.reused ?? 0));
    }
  }

  /** What a row that joins reads of its prompt, which is given where it was read for it. */
  #fill(line: number, row: Row, read: ReadPrompt | undefined): void {
    const { key, prompt } = row;
    const { length } = prompt;
    const isNew = read !== undefined && !this.#first.has(key);
    if (isNew) this.#first.set(key, read.draw);
    if (this.#prompts) {
      if (isNew) this.#prompts.add([{ key, length, cache: read.cache }]);
    } else if (read) this.#cache.fill(line, read.cache, length);
    else {
      const like = this.#rows.findIndex((other) => other.key === key);
      this.#cache.copy(like, line, length);
    }
  }

  /** Places of a row's cache that are filled. */
  #filled(row: Row): number {
    return this.#prompts ? row.tokens.length - 1 : lastPlace(row);
  }

  /** Lets rows go that have a stop; the last ones take their places. */
  leave(): void {
    const rows = this.#rows;
    for (let i = rows.length - 1; i >= 0; i--) {
      if (rows[i].stop === undefined) continue;
      const last = rows.pop()!;
      if (i === rows.length) continue;
      this.#cache.copy(rows.length, i, this.#filled(last));
      rows[i] = last;
    }
    if (rows.length === 0) this.#mirrored = false;
    const running = new Set(rows.map(({ key }) => key));
    for (const key of this.#first.keys()) if (!running.has(key)) this.#first.delete(key);
    this.#prompts?.keep(running);
  }

  /** Makes room for one token more of each row, and gives up places when most of them are empty. */
  #reserve(rows: readonly Row[]): void {
    if (rows.length === 0) return;
    // One place more than is read, so that the last one is never seen.
    const needed = Math.max(...rows.map((row) => this.#filled(row))) + 2;
    const before = ({ prompt }: Row): number => (this.#prompts ? 0 : prompt.length);
    const most = Math.max(...rows.map((row) => before(row) + row.job.request.params.maxTokens));
    const lines = Math.max(rows.length, MIN_SEQUENCES);
    let { rows: room, places } = this.#cache;
    if (lines > room) room = Math.min(MAX_SEQUENCES, Math.max(lines, Math.ceil(1.5 * room)));
    // Moving prompts is dear; what was sampled since is little, and room for more of it is read at every step.
    const few = this.#prompts ? needed : needed + PLACES;
    if (needed > places) places = roundUp(Math.min(most, Math.max(few, 1.25 * places)));
    else if (2 * few < places) places = roundUp(Math.min(most, few));
    this.#cache.resize(room, places, this.#mirrored ? MIN_SEQUENCES : this.#rows.length);
  }
}

function roundUp(places: number): number {
  return PLACES * Math.ceil(places / PLACES);
}

/** The place of a row's newest token in its sequence. */
export function lastPlace({ prompt, tokens }: Row): number {
  return prompt.length + tokens.length - 1;
}
