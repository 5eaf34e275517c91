/**
 * Mail server of the sandbox, in its own process: accepts every mail, delivers none, and lists them on a page. `node sandbox/mailboxMain.ts
 * --port 0 --folder ./data/mail`
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseArgs } from 'node:util';
import { SMTPServer, type SMTPServerDataStream } from 'smtp-server';
import { listPage, mailPage, noMailPage, stylesheet } from './mailboxPage.ts';
import { openMailFolder } from './mailFolder.ts';
import { readyProgram } from './readyProgram.ts';

const host = '127.0.0.1';
const mailMax_bytes = 256 * 1024;
const clientsMax = 20;

const { values: options } = parseArgs({
  options: {
    port: { type: 'string', default: '0' },
    folder: { type: 'string', default: './mail' },
    detached: { type: 'boolean', default: false },
  },
});

const folder = openMailFolder(options.folder);

const smtp = new SMTPServer({
  disabledCommands: ['AUTH', 'STARTTLS'],
  size: mailMax_bytes,
  maxClients: clientsMax,
  onData(stream, _session, done) {
    bytesOf(stream).then((mail) => {
      if (stream.sizeExceeded) return done(Object.assign(new Error('the mail is too large'), { responseCode: 552 }));
      folder.keep(mail, new Date());
      done();
    }, done);
  },
});

/** No more than is allowed is kept in memory. */
async function bytesOf(stream: SMTPServerDataStream): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream as AsyncIterable<Buffer>) if (!stream.sizeExceeded) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function show({ method, url = '/', headers }: IncomingMessage, response: ServerResponse): void {
  const isOurs = /^(127\.0\.0\.1|localhost)(:\d+)?$/.test(headers.host ?? '');
  const mail = folder.read(url.slice(1));
  // Another name for this machine could be a stranger's web page that reads the mail.
  if (!isOurs) answer(response, 403, noMailPage());
  else if (method !== 'GET' && method !== 'HEAD') answer(response, 405, noMailPage());
  else if (url === '/mailbox.css') answer(response, 200, stylesheet, 'text/css');
  else if (url === '/') answer(response, 200, listPage(folder.list()));
  else if (mail) answer(response, 200, mailPage(mail));
  else answer(response, 404, noMailPage());
}

function answer(response: ServerResponse, status: number, body: string, type = 'text/html'): void {
  response.writeHead(status, {
    'Content-Type': `${type}; charset=utf-8`,
    'Content-Security-Policy': "default-src 'none'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'",
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'Cache-Control': 'no-store',
  });
  response.end(body);
}

const page = createServer(show);
page.on('error', (error) => {
  console.error(`mailbox: ${error.message}`);
  process.exit(1);
});
// The client disconnected.
smtp.on('error', (error) => console.error(`mailbox: ${error.message}`));
smtp.listen(0, host, () => {
  page.listen(Number(options.port), host, () => {
    const smtpUrl = `smtp://${host}:${(smtp.server.address() as AddressInfo).port}`;
    const url = `http://${host}:${(page.address() as AddressInfo).port}`;
    readyProgram({
      facts: { smtpUrl, url },
      text: `mailbox: ${url}, SMTP at ${smtpUrl}`,
      detached: options.detached,
      async stop() {
        page.close();
        page.closeAllConnections();
        smtp.close();
      },
    });
  });
});
