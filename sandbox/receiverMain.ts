/**
 * The merchant's side of webhooks: a small HTTPS server in its own process that verifies each one and logs it.
 * `node sandbox/receiverMain.ts --port 0 --log webhook.log --secrets-file secrets.json --certificates ./data --data-dir ./data`
 */
import { appendFileSync, readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { parseArgs } from 'node:util';
import { keepCertificate } from './certificate.ts';
import { readyProgram } from './readyProgram.ts';
import { bodyOf } from './requestBody.ts';
import { type Verdict, verifyWebhook } from './verifyWebhook.ts';

const bodyBytesMax = 256 * 1024;

const { values: options } = parseArgs({
  options: {
    port: { type: 'string', default: '0' },
    log: { type: 'string', default: 'webhook.log' },
    'secrets-file': { type: 'string', default: 'secrets.json' },
    certificates: { type: 'string', default: '.' },
    'data-dir': { type: 'string' },
    detached: { type: 'boolean', default: false },
  },
});

/** `{ "<appId>": "<secret>" }`, read for each request: a rotated secret counts at once. */
function knownSecrets(): string[] {
  try {
    return Object.values(JSON.parse(readFileSync(options['secrets-file'], 'utf8')) as Record<string, string>);
  } catch {
    return [];
  }
}

/** Apps outside the file are searched in the sandbox's log. */
async function judge(headers: Parameters<typeof verifyWebhook>[0], body: Uint8Array, now_ms: number): Promise<Verdict> {
  const verdict = verifyWebhook(headers, body, knownSecrets(), now_ms);
  const dataDir = options['data-dir'];
  if (verdict !== 'invalid_signature' || dataDir === undefined) return verdict;
  // Loading the event store's client takes most of the processor time of a start, and few receivers need it.
  const { appIdIn, webhookSecretOf } = await import('./webhooks/secretOf.ts');
  const appId = appIdIn(body);
  if (appId === undefined) return verdict;
  const secret = await webhookSecretOf(dataDir, appId).catch((error: Error) => {
    console.error(`webhook receiver: the secret of ${appId} cannot be read: ${error.message}`);
    return undefined;
  });
  return secret === undefined ? verdict : verifyWebhook(headers, body, [secret], now_ms);
}

async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method !== 'POST') return answer(response, 405, { error: 'method_not_allowed' });
  const body = await bodyOf(request, bodyBytesMax);
  if (!body) return answer(response, 413, { error: 'body_too_large' });

  const { 'x-service-timestamp': timestamp, 'x-service-signature': signature } = request.headers;
  const now = new Date();
  const signed = { timestamp: timestamp?.toString(), signature: signature?.toString() };
  const verdict = await judge(signed, body, now.getTime());
  const valid = verdict === 'valid';
  const line = { receivedAt: now.toISOString(), headers: request.headers, body: body.toString('utf8'), valid };
  // Before the answer: a delivered webhook must already be in the log.
  appendFileSync(options.log, `${JSON.stringify(line)}\n`);
  answer(response, valid ? 200 : 401, valid ? { received: true } : { error: verdict });
}

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'Content-Type': 'application/json', Connection: 'close' }).end(JSON.stringify(body));
}

const { certFile, keyFile } = await keepCertificate(options.certificates);
const server = createServer({ cert: readFileSync(certFile), key: readFileSync(keyFile) }, (request, response) => {
  receive(request, response).catch(() => response.destroy());
});
server.on('error', (error) => {
  console.error(`webhook receiver: ${error.message}`);
  process.exit(1);
});
server.listen(Number(options.port), '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  readyProgram({
    facts: { port, caFile: certFile },
    text: `webhook receiver: https://127.0.0.1:${port}/ , trust ${certFile}`,
    detached: options.detached,
    async stop() {
      server.close();
      server.closeAllConnections();
    },
  });
});
