/** Browsers with open payment pages, as far as the service can observe: each listens to its news, and reads the page again at most once per second. */
import http from 'node:http';

/** News that reached a page, with the number of the payment's events. */
export interface Heard {
  readonly events: number;
  readonly at_ms: number;
}

export interface OpenPage {
  readonly heard: readonly Heard[];
  /** Durations of the page's reads. */
  readonly reads_ms: readonly number[];
  close(): void;
}

/** The pause of client/parts.js after each read. */
const pause_ms = 1_000;
const agent = new http.Agent({ keepAlive: true, maxSockets: 100 });

/** Resolves when the page has been read and its stream reports the present version. */
export async function openPage(paymentLink: string): Promise<OpenPage> {
  const heard: Heard[] = [];
  const reads_ms: number[] = [];
  await read(paymentLink, reads_ms);
  let state: 'idle' | 'busy' | 'again' = 'idle';
  async function readAgain(): Promise<void> {
    if (state !== 'idle') {
      state = 'again';
      return;
    }
    state = 'busy';
    await read(paymentLink, reads_ms).catch(() => {});
    setTimeout(() => {
      const again = state === 'again';
      state = 'idle';
      if (again) void readAgain();
    }, pause_ms);
  }
  const first = Promise.withResolvers<void>();
  const line = http.get(`${paymentLink}/live`, { agent: false }, (response) => {
    if (response.statusCode !== 200) first.reject(new Error(`news were refused: ${response.statusCode}`));
    response.setEncoding('utf8').on('data', (text: string) => {
      for (const [, events] of text.matchAll(/^data: (\d+)/gm)) {
        heard.push({ events: Number(events), at_ms: Date.now() });
        if (heard.length > 1) void readAgain();
        else first.resolve();
      }
    });
    response.on('error', () => {});
  });
  line.on('error', first.reject);
  await first.promise;
  return { heard, reads_ms, close: () => void line.destroy() };
}

function read(url: string, reads_ms: number[]): Promise<void> {
  const began_ms = performance.now();
  return new Promise((resolve, reject) => {
    http
      .get(url, { agent, headers: { accept: 'text/html' } }, (response) => {
        response.resume().once('end', () => {
          reads_ms.push(performance.now() - began_ms);
          if (response.statusCode === 200) resolve();
          else reject(new Error(`a page was answered ${response.statusCode}`));
        });
      })
      .once('error', reject);
  });
}
