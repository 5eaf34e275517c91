/** Replaces node:https between the service and a separate signer: requests reach its simulated process, or are lost. */
import type { Agent as RealAgent, request as realRequest, createServer as realServer } from 'node:https';
import { runIn, runningProcess } from '../kernel/process.ts';
import { call, type SimulatedServer, theRun } from '../kernel/run.ts';

export * from 'node:https';

interface Answer {
  readonly status: number;
  readonly text: string;
}

const broken = () => new Error('the connection broke');

export class Agent {
  destroy(): void {}
}

type Handler = Parameters<typeof realServer>[1];

/** Certificates are not simulated: nobody but the service reaches the server. */
export function createServer(_options: unknown, handler: NonNullable<Handler>): ReturnType<typeof realServer> {
  const process = runningProcess();
  let place = '';
  let port = 0;
  const leave = () => void theRun().servers.delete(place);

  const own: SimulatedServer<Answer> = {
    process,
    serve: (method, path, body) =>
      new Promise((resolve, reject) => {
        const ended = () => reject(broken());
        process?.onEnd.add(ended);
        const answered = (answer: Answer) => {
          process?.onEnd.delete(ended);
          resolve(answer);
        };
        runIn(process, () => handler(requestOf(method, path, body) as never, responseOf(answered) as never));
      }),
  };
  const server = {
    maxConnections: 0,
    on: () => server,
    once: () => server,
    listen(wanted: number, host: string, listening: () => void) {
      port = wanted;
      place = `${host}:${port}`;
      theRun().servers.set(place, own);
      process?.onEnd.add(leave);
      queueMicrotask(listening);
    },
    address: () => ({ port }),
    close(closed: () => void) {
      leave();
      closed();
    },
    closeIdleConnections() {},
  };
  return server as unknown as ReturnType<typeof realServer>;
}

const requestOf = (method: string, url: string, body: string | undefined) => ({
  method,
  url,
  socket: { getPeerCertificate: () => ({ subject: { CN: 'service' } }) },
  async *[Symbol.asyncIterator]() {
    if (body !== undefined) yield Buffer.from(body);
  },
});

function responseOf(answered: (answer: Answer) => void) {
  let status = 200;
  const response = {
    writeHead(code: number) {
      status = code;
      return response;
    },
    end: (text: string) => answered({ status, text }),
  };
  return response;
}

interface Asked {
  readonly agent: RealAgent;
  readonly method: string;
  readonly signal: AbortSignal;
}

type Received = { statusCode: number; on(event: string, handler: (part?: Buffer) => void): void };

export function request(url: URL, { method, signal }: Asked, heard: (response: Received) => void) {
  const handlers: ((error: unknown) => void)[] = [];
  let isOver = false;
  const settle = (act: () => void): void => {
    if (isOver) return;
    isOver = true;
    act();
  };
  const fail = (error: unknown) =>
    settle(() => {
      for (const handler of handlers) handler(error);
    });
  signal.addEventListener('abort', () => fail(signal.reason), { once: true });

  const asked = {
    on(_event: 'error', handler: (error: unknown) => void) {
      handlers.push(handler);
    },
    destroy: fail,
    end: (body?: string) => void send(url, method, body).then((answer) => settle(() => tell(answer, heard)), fail),
  };
  return asked as unknown as ReturnType<typeof realRequest>;
}

async function send({ host, pathname }: URL, method: string, body: string | undefined): Promise<Answer> {
  const { agenda, faults, weather, random, servers } = theRun();
  const process = runningProcess();
  const port = `signer.${pathname.split('/').at(-1)}`;
  const serve = () => {
    const server = servers.get(host);
    if (!server?.process?.alive) throw broken();
    return { answer: server.serve(method, pathname, body) };
  };
  const { answer } = await call({ port, serve, lost: broken });
  const isLost = faults.fails(`lost.answer.${port}.late`, weather.loss);
  return new Promise((resolve, reject) => {
    const back = (settle: () => void) =>
      agenda.after(1 + random.below(weather.way_ms), () => runIn(process, () => settle()));
    answer.then(
      (said) => back(() => (isLost ? reject(broken()) : resolve(said as Answer))),
      (error: unknown) => back(() => reject(error)),
    );
  });
}

function tell({ status, text }: Answer, heard: (response: Received) => void): void {
  const handlers = new Map<string, (part?: Buffer) => void>();
  heard({ statusCode: status, on: (event, handler) => void handlers.set(event, handler) });
  handlers.get('data')?.(Buffer.from(text));
  handlers.get('end')?.();
}
