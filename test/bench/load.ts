/** The load, in a separate process: many connections, each of which sends its next request after the previous answer. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import autocannon from 'autocannon';

export interface Load {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  /** `[n]` is replaced by the number of the request. */
  readonly body?: string;
  readonly connections: number;
  readonly duration_s: number;
}

export interface Measured {
  readonly perSecond: number;
  readonly requests: number;
  readonly p50_ms: number;
  readonly p99_ms: number;
  /** Processor time of the load itself. */
  readonly own_s: number;
}

const program = fileURLToPath(import.meta.url);

/** @throws Error if a request failed: such a run does not measure successful requests */
export async function applyLoad(load: Load): Promise<Measured> {
  const child = fork(program, ['run'], { execArgv: [] });
  child.send(load);
  const [answer] = (await once(child, 'message')) as [Measured | { error: string }];
  if ('error' in answer) throw new Error(answer.error);
  return answer;
}

async function run({ url, method, headers, body, connections, duration_s }: Load): Promise<Measured> {
  let sent = 0;
  const run = `${process.pid}-${Date.now().toString(36)}-`;
  const [before = '', after = ''] = body?.split('[n]') ?? [];
  const result = await autocannon({
    url,
    connections,
    duration: duration_s,
    requests: [
      {
        method,
        headers: { ...headers },
        ...(body !== undefined && {
          setupRequest: (request) => {
            sent += 1;
            return { ...request, body: `${before}${run}${sent}${after}` };
          },
        }),
      },
    ],
  });
  const cpu = process.cpuUsage();
  const bad = result.non2xx + result.errors + result.timeouts;
  if (bad > 0) {
    const statuses = JSON.stringify(result.statusCodeStats);
    throw new Error(`${bad} of ${result.requests.total} requests to ${url} were not answered well: ${statuses}`);
  }
  return {
    // autocannon counts whole seconds. Dividing requests by the exact duration is correct for short runs too.
    perSecond: result.requests.total / result.duration,
    requests: result.requests.total,
    p50_ms: result.latency.p50,
    p99_ms: result.latency.p99,
    own_s: (cpu.user + cpu.system) / 1e6,
  };
}

if (process.argv[2] === 'run') {
  process.once('message', (load: Load) => {
    run(load)
      .catch((error: unknown) => ({ error: String(error) }))
      .then((answer) => process.send?.(answer, () => process.exit(0)));
  });
}
