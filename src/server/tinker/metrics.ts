// Counters of the server in Prometheus' text format: requests, queues, tokens, and how late the event loop is.

import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';

export type GaugeReader = () => number;

export interface ServerMetrics extends Disposable {
  /** Answers by route and status. */
  request(route: string, status: number): void;
  /** A future that ended. */
  future(kind: string, outcome: 'finished' | 'failed'): void;
  /** Seconds of one piece of work: a pass, a step, a save, a sample. */
  work(kind: string, seconds: number): void;
  tokens(kind: 'trained' | 'sampled', count: number): void;
  /** A value that is read when it is asked for. */
  gauge(name: string, help: string, read: GaugeReader): void;
  text(): Promise<string>;
  readonly contentType: string;
}

const SECONDS = [0.005, 0.02, 0.1, 0.5, 2, 10, 60];

export function createMetrics(): ServerMetrics {
  const registry = new Registry();
  const registers = [registry];
  const requests = new Counter({
    name: 'tabwright_requests_total',
    help: 'Answers by route and status.',
    labelNames: ['route', 'status'],
    registers,
  });
  const futures = new Counter({
    name: 'tabwright_futures_total',
    help: 'Pieces of work by kind and outcome.',
    labelNames: ['kind', 'outcome'],
    registers,
  });
  const seconds = new Histogram({
    name: 'tabwright_work_seconds',
    help: 'Seconds of a piece of work, waiting left out.',
    labelNames: ['kind'],
    buckets: SECONDS,
    registers,
  });
  const tokens = new Counter({
    name: 'tabwright_tokens_total',
    help: 'Tokens that were trained on or sampled.',
    labelNames: ['kind'],
    registers,
  });
  const delay = monitorEventLoopDelay({ resolution: 10 });
  delay.enable();
  const gauge = (name: string, help: string, read: GaugeReader): void => {
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
  };
  gauge(
    'tabwright_event_loop_delay_p99_seconds',
    'How late the event loop is, 99th percentile since the last reading.',
    () => {
      const p99 = delay.percentile(99) / 1e9;
      delay.reset();
      return p99;
    },
  );
  gauge('process_resident_memory_bytes', 'Memory of the process.', () => process.memoryUsage.rss());
  return {
    request: (route, status) => requests.inc({ route, status: String(status) }),
    future: (kind, outcome) => futures.inc({ kind, outcome }),
    work: (kind, value) => seconds.observe({ kind }, value),
    tokens: (kind, count) => tokens.inc({ kind }, count),
    gauge,
    text: () => registry.metrics(),
    contentType: registry.contentType,
    [Symbol.dispose]() {
      delay.disable();
      registry.clear();
    },
  };
}
