/** Treasury keys in another process: a signer's port over HTTPS, with certificates on both sides. */
import { Agent, request } from 'node:https';
import { Unavailable } from '../../commands/ports.ts';
import { PayoutBlocked, type Signer, SigningRefused } from '../../commands/transferPorts.ts';
import { blockReasons, signingReasons } from '../../domain/transfer/shapes.ts';
import type { DepositOwner } from '../chains/family.ts';
import {
  messageMax_bytes,
  type OwnersWanted,
  type Refused,
  read,
  type SignerAccounts,
  type SigningRequest,
  signerPaths,
  write,
} from './protocol.ts';
import type { Tls } from './settings.ts';

export interface RemoteSigner {
  /** Accounts of its keys. @throws Unavailable */
  accounts(): Promise<SignerAccounts>;
  /** A signer port for this account only. */
  signerOf(account: string): Signer;
  /** Deposit addresses whose keys it can derive. @throws Unavailable */
  depositOwners(count: number): Promise<readonly DepositOwner[]>;
  /** The deposit address that it derives from a salt of 64 hexadecimal digits. @throws Unavailable */
  depositOwner(salt: string): Promise<DepositOwner>;
  close(): void;
}

/** The signer needs several calls to its nodes to check the money and earlier signatures. */
const answer_ms = 30_000;
/** To derive an address, the signer calls nobody. Requests for terms wait for it. */
const ownerAnswer_ms = 10_000;
const retryAfter_s = 5;
const connectionsMax = 16;

/** @param url https://host:port, without a path */
export function createRemoteSigner(url: string, tls: Tls): RemoteSigner {
  const agent = new Agent({ ...tls, keepAlive: true, maxSockets: connectionsMax, minVersion: 'TLSv1.3' });

  async function ask<T>(
    method: 'GET' | 'POST',
    path: string,
    of: (text: string) => T,
    body?: unknown,
    within_ms = answer_ms,
  ): Promise<T> {
    const signal = AbortSignal.timeout(within_ms);
    const { status, text } = await exchange(agent, new URL(path, url), { method, body, signal }).catch(
      (error: unknown) => {
        throw unavailable(error instanceof Error ? error.message : String(error));
      },
    );
    try {
      if (status === 200) return of(text);
    } catch (error) {
      throw unavailable(`its answer cannot be read: ${(error as Error).message}`);
    }
    throw refusalOf(status, text);
  }

  return {
    accounts: async () => (await ask('GET', signerPaths.accounts, read.accounts)).accounts,
    depositOwners: async (count) =>
      (await ask('POST', signerPaths.owners, read.owners, { count } satisfies OwnersWanted)).owners,
    async depositOwner(salt) {
      const wanted: OwnersWanted = { salts: [salt] };
      const [owner] = (await ask('POST', signerPaths.owners, read.owners, wanted, ownerAnswer_ms)).owners;
      if (owner?.salt !== salt) throw unavailable('its answer names another salt');
      return owner;
    },
    signerOf: (account) => ({
      account,
      check: (unsigned, purpose) =>
        ask('POST', signerPaths.check, () => undefined, { unsigned, purpose } satisfies SigningRequest),
      sign: (unsigned, purpose) =>
        ask('POST', signerPaths.sign, read.signed, { unsigned, purpose } satisfies SigningRequest),
    }),
    close: () => agent.destroy(),
  };
}

const unavailable = (why: string): Unavailable =>
  new Unavailable(`the signer does not answer (${why}): payouts wait for it`, retryAfter_s);

/** The signer's message as the error of its reason. */
function refusalOf(status: number, text: string): Error {
  let refused: Refused;
  try {
    refused = read.refused(text);
  } catch {
    return unavailable(`status ${status}`);
  }
  const { refused: reason, message } = refused;
  if (status >= 500) return unavailable(message);
  if (reason === 'malformed')
    return new SigningRefused('mismatch', `the signer cannot read what it is asked: ${message}`);
  const signing = signingReasons.find((known) => known === reason);
  if (signing) return new SigningRefused(signing, message);
  const blocked = blockReasons.find((known) => known === reason);
  if (blocked) return new PayoutBlocked(blocked, message);
  return unavailable(`${reason}: ${message}`);
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

/** One request and its whole answer, within the timeout and at most `messageMax_bytes`. */
function exchange(
  agent: Agent,
  url: URL,
  { method, body, signal }: { readonly method: string; readonly body: unknown; readonly signal: AbortSignal },
): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const headers = body === undefined ? {} : { 'content-type': 'application/json' };
  const asked = request(url, { agent, method, headers, signal }, (response) => {
    const parts: Buffer[] = [];
    let length = 0;
    response.on('error', reject);
    response.on('data', (part: Buffer) => {
      length += part.length;
      if (length > messageMax_bytes) asked.destroy(new Error('its answer is too long'));
      else parts.push(part);
    });
    response.on('end', () =>
      resolve({ status: response.statusCode ?? 0, text: Buffer.concat(parts).toString('utf8') }),
    );
  });
  asked.on('error', reject);
  asked.end(body === undefined ? undefined : write(body));
  return promise;
}
