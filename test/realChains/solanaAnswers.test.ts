import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { Keypair } from 'solana-web3-v1';
import { WebSocket } from 'ws';
import { type StartedSolana, startSolana } from '../../sandbox/solana/start.ts';
import { onStop } from '../support/hooks.ts';
import { patience_ms } from '../support/patience.ts';
import { describeOnReal, type RealNode, startRealSolana } from '../support/realNodes.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';
import {
  assertSame,
  type Both,
  call as callNode,
  type Difference,
  type HttpAnswer,
  mapFields,
  onBoth,
  post,
  seedFrom,
} from './comparison.ts';
import { callsIn, contexts, envelopeBodies, envelopes, notKeys, unknownSignatures } from './solanaCalls.ts';
import { shapeOf } from './solanaComparison.ts';
import { meantDifferences, methodsOfValidators } from './solanaDifferences.ts';
import {
  call,
  confirmed,
  createSolanaWorld,
  encoded,
  keyOf,
  land,
  listedFirst,
  newestBlockhash,
  pricesListed,
  type Reply,
  type SolanaWorld,
  signatureOf,
  usualSend,
  versionZero,
} from './solanaWorld.ts';

/** Four times the public network's pace, so that blockhashes expire within the spec. */
const slot_ms = 100;
const finalized_slots = 32;
/** Agave sends what waits again after this time. */
const retry_ms = 2_000;
const runs = 100;
const seed = seedFrom('REAL_CHAINS_SEED');

describeOnReal(['SOLANA'], 'the sandbox’s Solana answers as Agave 4.2.0', () => {
  let nodes: Both<StartedSolana | RealNode>;
  let urls: Both<string>;
  let world: SolanaWorld;
  let oldBlockhashes: Both<string>;
  /** Has no account at first, so that its transaction waits. */
  const [late, tooLate] = [Keypair.generate(), Keypair.generate()];
  let expiring: Both<Uint8Array>;
  const folders: Both<string> = { imitation: temporaryDirectory(), real: temporaryDirectory() };
  const landed: Both<string>[] = [];

  async function start(): Promise<void> {
    const options = { slot_ms, finalized_slots, logFile: join(folders.imitation, 'node.log') };
    const [imitation, real] = await Promise.all([
      startSolana({ ...options, stateFile: join(folders.imitation, 'solana.jsonl') }),
      startRealSolana({ slot_ms, folder: folders.real }),
    ]);
    onStop(() => imitation.stop());
    nodes = { imitation, real };
    urls = { imitation: imitation.rpcUrl, real: real.rpcUrl };
  }

  before(async () => {
    await start();
    oldBlockhashes = await onBoth(urls, newestBlockhash);
    world = await createSolanaWorld(Object.values(urls));
    expiring = await onBoth(urls, (url) => paymentOf(tooLate, url, of(oldBlockhashes, url)));
    await onBoth(urls, async (url) => assert.ok((await sendUnchecked(url, of(expiring, url))).result));
  });
  after(() => Promise.all([nodes?.real.stop(), nodes?.imitation.stop()]));

  const of = <T>(both: Both<T>, url: string): T => (url === urls.real ? both.real : both.imitation);
  const paymentOf = (payer: Keypair, url: string, blockhash?: string) =>
    versionZero(url, [world.pay(1_000_000, world.stranger, payer)], [payer], blockhash);
  const sendUnchecked = (url: string, bytes: Uint8Array) =>
    call(url, 'sendTransaction', [encoded(bytes), { ...usualSend, skipPreflight: true }]);
  const fundOn = async (url: string, who: Keypair) =>
    land(url, await versionZero(url, [world.pay(10_000_000, who)], [world.payer]));

  const isMeant = (method: string, params: unknown) => (difference: Difference) =>
    meantDifferences.some(({ explains }) => explains?.({ method, params }, difference) ?? false);

  async function compareCall(method: string, params: unknown): Promise<void> {
    const answers = await onBoth(urls, (url) => callNode(url, method, params));
    assertSame(`${method} ${JSON.stringify(params)}`, answers, httpShape, isMeant(method, params));
  }

  it('to requests that are no usual calls', async () => {
    for (const [name, request] of envelopes())
      assertSame(name, await onBoth(urls, (url) => post(url, null, { headers: {}, ...request })), httpShape);
  });

  async function compareAllCalls(): Promise<void> {
    const found: string[] = [];
    for (const [method, all] of Object.entries(callsIn(world)))
      for (const params of all)
        await compareCall(method, params).catch((error: Error) => void found.push(error.message));
    assert.ok(found.length === 0, found.join('\n\n'));
  }

  it('to each method, with usual, missing, wrong and extreme parameters', compareAllCalls);

  it('to methods of validators, which the sandbox does not have', async () => {
    for (const method of methodsOfValidators) {
      const { imitation, real } = await onBoth(urls, (url) =>
        callNode(url, method, method === 'getBlockCommitment' ? [5] : undefined),
      );
      assert.equal((imitation.body as Reply).error?.code, -32601);
      assert.notEqual((real.body as Reply).error?.code, -32601, method);
    }
  });

  it('to generated parameters', async () => {
    const { payer, mint, receivers } = world;
    const keys = [keyOf(payer), keyOf(mint), receivers.toBase58(), ...notKeys.filter((each) => !Array.isArray(each))];
    await fc
      .assert(
        fc.asyncProperty(generatedCall(keys), ([method, params]) => compareCall(method, params)),
        { seed, numRuns: runs, endOnFailure: true },
      )
      .catch((error: unknown) => {
        throw new Error(`REAL_CHAINS_SEED=${seed}`, { cause: error });
      });
  });

  describe('to transactions', () => {
    const compareOnBoth = async (asked: string, run: (url: string) => Promise<unknown>, isOtherProgram = false) =>
      assertSame(asked, await onBoth(urls, run), (answer) => withoutVarying(answer, isOtherProgram));

    async function compareTransaction(name: string, bytes: Both<Uint8Array>, isOtherProgram: boolean): Promise<void> {
      const bytesFor = (url: string) => encoded(url === urls.real ? bytes.real : bytes.imitation);
      const compare = (asked: string, method: string, options: object) =>
        compareOnBoth(`${name}: ${asked}`, (url) => call(url, method, [bytesFor(url), options]), isOtherProgram);
      const simulated = { encoding: 'base64', commitment: 'confirmed' };
      await compare('simulated', 'simulateTransaction', simulated);
      await compare('simulated with signatures', 'simulateTransaction', { ...simulated, sigVerify: true });
      await compare('simulated with a new blockhash', 'simulateTransaction', {
        ...simulated,
        replaceRecentBlockhash: true,
        innerInstructions: true,
        accounts: { encoding: 'base64', addresses: [keyOf(world.payer)] },
      });
    }

    it('landing: simulations, refusals of preflights, results, fees, balances, logs and duplicates', async () => {
      for (const { name, make, isOtherProgram = false } of world.landing) {
        const bytes = await onBoth(urls, make);
        const bytesFor = (url: string) => (url === urls.real ? bytes.real : bytes.imitation);
        await compareTransaction(name, bytes, isOtherProgram);
        const sent = (url: string, options: object) =>
          call(url, 'sendTransaction', [encoded(bytesFor(url)), { ...usualSend, ...options }]);
        await compareOnBoth(`${name}: sent`, (url) => sent(url, {}), isOtherProgram);
        const signatures = await onBoth(urls, (url) => land(url, bytesFor(url)));
        landed.push(signatures);
        await compareOnBoth(`${name}: sent again`, (url) => sent(url, {}));
        await compareOnBoth(`${name}: sent again without preflight`, (url) => sent(url, { skipPreflight: true }));
        await compareLanded(name, signatures, isOtherProgram);
      }
    });

    async function compareLanded(
      name: string,
      signatures: Both<string>,
      isOtherProgram: boolean,
      searches: readonly boolean[] = [true, false],
    ): Promise<void> {
      const signatureFor = (url: string) => (url === urls.real ? signatures.real : signatures.imitation);
      for (const encoding of ['json', 'jsonParsed', 'base64', 'base58', 'binary']) {
        const options = { commitment: 'confirmed', maxSupportedTransactionVersion: 1, encoding };
        const got = (url: string) => call(url, 'getTransaction', [signatureFor(url), options]);
        await compareOnBoth(`${name} as ${encoding}`, got, isOtherProgram);
      }
      for (const version of [undefined, 0]) {
        const options = { commitment: 'confirmed', maxSupportedTransactionVersion: version };
        const got = (url: string) => call(url, 'getTransaction', [signatureFor(url), options]);
        await compareOnBoth(`${name} for clients of version ${version}`, got, isOtherProgram);
      }
      for (const searchTransactionHistory of searches) {
        const status = (url: string) =>
          call(url, 'getSignatureStatuses', [[signatureFor(url)], { searchTransactionHistory }]);
        await compareOnBoth(`${name}: status`, status);
      }
    }

    it('never landing', async () => {
      for (const { name, make } of world.refused) {
        const bytes = await onBoth(urls, make);
        const bytesFor = (url: string) => encoded(url === urls.real ? bytes.real : bytes.imitation);
        await compareTransaction(name, bytes, false);
        for (const options of [{}, { skipPreflight: true }]) {
          const sent = (url: string) => call(url, 'sendTransaction', [bytesFor(url), { ...usualSend, ...options }]);
          await compareOnBoth(`${name} ${JSON.stringify(options)}`, sent);
        }
      }
    });

    it('in blocks', async () => {
      for (const at of [2, 5, 6, 11]) {
        for (const transactionDetails of ['full', 'accounts', 'signatures', 'none'])
          for (const more of [
            { maxSupportedTransactionVersion: 1 },
            {},
            { maxSupportedTransactionVersion: 1, rewards: false },
          ]) {
            const options = { commitment: 'confirmed', transactionDetails, ...more };
            const block = async (url: string) => {
              const signature = landed[at]?.[url === urls.real ? 'real' : 'imitation'];
              const { result } = await call(url, 'getTransaction', [
                signature,
                { ...options, maxSupportedTransactionVersion: 1 },
              ]);
              return withoutVotes(await call(url, 'getBlock', [(result as { slot: number }).slot, options]));
            };
            await compareOnBoth(`block ${at} ${JSON.stringify(options)}`, block, true);
          }
        const slots = async (url: string) => {
          const signature = landed[at]?.[url === urls.real ? 'real' : 'imitation'];
          const options = { commitment: 'confirmed', maxSupportedTransactionVersion: 1 };
          const { result } = await call(url, 'getTransaction', [signature, options]);
          const { slot } = result as { slot: number };
          const { commitment } = options;
          const lists = [
            [slot, slot, { commitment }],
            [slot, slot - 1, { commitment }],
            [slot, { commitment }],
          ];
          return Promise.all(lists.map(async (params) => shapeOf(await call(url, 'getBlocks', params))));
        };
        await compareOnBoth('lists of blocks', slots);
      }
    });

    it('in the lists of accounts, by pages', async () => {
      const { payer, receiver, reference, receivers, stranger } = world;
      const addresses = [payer, receiver, reference, stranger].map(keyOf);
      for (const address of [...addresses, receivers.toBase58()]) await compareLists(address);
    });

    async function compareLists(address: string): Promise<void> {
      const signatureFor = (url: string, at: number) => landed[at]?.[url === urls.real ? 'real' : 'imitation'];
      const pages = [{}, { limit: 2 }, { before: 5 }, { until: 5 }, { before: 8, until: 3 }, { before: 3, until: 8 }];
      for (const { before, until, ...limit } of pages as { before?: number; until?: number; limit?: number }[]) {
        const list = (url: string) =>
          call(url, 'getSignaturesForAddress', [
            address,
            {
              ...limit,
              commitment: 'confirmed',
              ...(before !== undefined && { before: signatureFor(url, before) }),
              ...(until !== undefined && { until: signatureFor(url, until) }),
            },
          ]);
        await compareOnBoth(`list of ${address} ${JSON.stringify({ before, until, ...limit })}`, list);
      }
    }

    it('in lists before a transaction that is not final', async () => {
      const list = async (url: string) => {
        const before = await land(url, await versionZero(url, [world.pay(5_000_005)], [world.payer]));
        const params = [keyOf(world.payer), { before, commitment: 'finalized', limit: 1 }];
        return errorShape((await call(url, 'getSignaturesForAddress', params)).error);
      };
      await compareOnBoth('list before a new transaction', list);
    });

    it('through balances and accounts afterwards', compareAccounts);

    async function compareAccounts(): Promise<void> {
      const { payer, stranger, poor, own, receivers, frozens, mint } = world;
      const keys = [...[payer, stranger, poor, mint].map(keyOf), ...[own, receivers, frozens].map(String)];
      for (const encoding of ['base64', 'jsonParsed']) {
        const accounts = (url: string) =>
          call(url, 'getMultipleAccounts', [keys, { commitment: 'confirmed', encoding }]);
        await compareOnBoth(`accounts as ${encoding}`, accounts);
      }
      for (const key of [own, receivers, frozens])
        await compareOnBoth('token balance', (url) =>
          call(url, 'getTokenAccountBalance', [String(key), { commitment: 'confirmed' }]),
        );
      await compareOnBoth('prices', async (url) =>
        shapeOf(await call(url, 'getRecentPrioritizationFees', [[keyOf(payer)]])),
      );
    }

    it('waiting until their payer has an account, and landing then', async () => {
      const bytes = await onBoth(urls, (url) => paymentOf(late, url));
      const signature = (url: string) => signatureOf(of(bytes, url));
      await compareOnBoth('waits: sent', (url) => sendUnchecked(url, of(bytes, url)));
      await compareOnBoth('waits: sent again', (url) => sendUnchecked(url, of(bytes, url)));
      await sleep(10 * slot_ms);
      await compareOnBoth('waits: status', (url) => call(url, 'getSignatureStatuses', [[signature(url)]]));
      await onBoth(urls, (url) => fundOn(url, late));
      await onBoth(urls, (url) => confirmed(url, signature(url)));
      const signatures = { imitation: signatureOf(bytes.imitation), real: signatureOf(bytes.real) };
      await compareLanded('waited', signatures, false);
    });

    it('with an expired blockhash', async () => {
      const hashFor = (url: string) => (url === urls.real ? oldBlockhashes.real : oldBlockhashes.imitation);
      const isOver = async (url: string): Promise<boolean> => {
        const { result } = await call(url, 'isBlockhashValid', [hashFor(url), { commitment: 'confirmed' }]);
        return (result as { value: boolean }).value === false;
      };
      for (const url of Object.values(urls)) while (!(await isOver(url))) await sleep(slot_ms);
      const bytes = await onBoth(urls, (url) => versionZero(url, [world.pay(5_000_006)], [world.payer], hashFor(url)));
      await compareTransaction('expired', bytes, false);
      const sent = (url: string) =>
        call(url, 'sendTransaction', [encoded(url === urls.real ? bytes.real : bytes.imitation), usualSend]);
      await compareOnBoth('expired: sent', sent);
    });

    it('with a blockhash that expires while they wait: they never land', async () => {
      await onBoth(urls, (url) => fundOn(url, tooLate));
      await sleep(retry_ms + 10 * slot_ms);
      const signature = (url: string) => signatureOf(of(expiring, url));
      const status = (url: string) =>
        call(url, 'getSignatureStatuses', [[signature(url)], { searchTransactionHistory: true }]);
      await compareOnBoth('expired: status', status);
      assert.equal(((await status(urls.real)) as { result: { value: unknown[] } }).result.value[0], null);
      const key = keyOf(tooLate);
      await compareOnBoth('expired: balance', (url) => call(url, 'getBalance', [key, { commitment: 'confirmed' }]));
      await compareOnBoth('expired: list', (url) =>
        call(url, 'getSignaturesForAddress', [key, { commitment: 'confirmed' }]),
      );
      await compareOnBoth('expired: sent again', (url) => sendUnchecked(url, of(expiring, url)));
    });

    it('after a restart', async () => {
      // Agave forgets what was not final when it ended.
      const last = await onBoth(urls, async (url) =>
        land(url, await versionZero(url, [world.pay(5_000_007)], [world.payer])),
      );
      await onBoth(urls, (url) => confirmed(url, url === urls.real ? last.real : last.imitation, 'finalized'));
      await Promise.all([nodes.real.stop(), nodes.imitation.stop()]);
      await start();
      // Agave starts at its last snapshot and replays the ledger.
      await onBoth(urls, (url) => listedFirst(url, keyOf(world.payer), url === urls.real ? last.real : last.imitation));
      // Agave has the prices of the blocks that it replayed, which may be none: a transaction makes some on both.
      await onBoth(urls, async (url) => land(url, await versionZero(url, [world.pay(5_000_008)], [world.payer])));
      await onBoth(urls, pricesListed);
      for (const at of [0, 3, 5, 9]) {
        const signatures = landed[at];
        if (signatures) await compareLanded(`${at} after a restart`, signatures, true, [true]);
      }
      const { payer, receiver, reference, receivers, stranger } = world;
      for (const address of [...[payer, receiver, reference, stranger].map(keyOf), receivers.toBase58()])
        await compareLists(address);
      await compareAccounts();
    });

    it('after a restart, to each method', compareAllCalls);
  });

  describe('over WebSockets', () => {
    const converse = async (url: string) => {
      const { protocol, hostname, port } = new URL(url);
      const socket = new WebSocket(`${protocol === 'http:' ? 'ws' : 'wss'}://${hostname}:${Number(port) + 1}`);
      const heard: unknown[] = [];
      socket.on('message', (data) => heard.push(JSON.parse(String(data))));
      await once(socket, 'open');
      const until = async (isDone: () => boolean) => {
        for (let poll = 0; poll < patience_ms / 5 && !isDone(); poll += 1) await sleep(5);
      };
      return { socket, heard, until };
    };

    it('to requests, with usual, missing, wrong and extreme parameters', async () => {
      const bodies = subscriptionBodies(world);
      const marker = 'marker';
      const replies = await onBoth(urls, async (url) => {
        const { socket, heard, until } = await converse(url);
        for (const [at, body] of bodies.entries()) {
          socket.send(body);
          socket.send(JSON.stringify({ jsonrpc: '2.0', id: `${marker} ${at}`, method: 'none' }));
        }
        const markerAt = (at: number) => heard.findIndex((each) => (each as { id?: unknown }).id === `${marker} ${at}`);
        await until(() => markerAt(bodies.length - 1) >= 0);
        socket.terminate();
        // Nodes answer in order. Notifications have a method.
        return bodies.map((_, at) =>
          heard
            .slice(at === 0 ? 0 : markerAt(at - 1) + 1, markerAt(at))
            .filter((each) => !Object.hasOwn(each as object, 'method')),
        );
      });
      for (const [at, body] of bodies.entries()) {
        const method = /"method":"(\w+)"/.exec(body)?.[1] ?? '';
        const answers = { imitation: replies.imitation[at], real: replies.real[at] };
        assertSame(body, answers, (all) => all?.map(replyShape), isMeant(method, undefined));
      }
    });

    it('with notifications of accounts, logs, programs, signatures, slots and roots', async () => {
      const { payer, receivers, mint, receiver } = world;
      const told = await onBoth(urls, async (url) => {
        const { socket, heard, until } = await converse(url);
        const transfers = await Promise.all([
          world.landing[3]?.make(url) ?? assert.fail('no transfer'),
          world.landing[6]?.make(url) ?? assert.fail('no failing transfer'),
        ]);
        const signatures = transfers.map(signatureOf);
        const levels = ['processed', 'confirmed', 'finalized'];
        const account = receivers.toBase58();
        const filters = [
          { memcmp: { offset: 0, bytes: keyOf(mint) } },
          { memcmp: { offset: 32, bytes: keyOf(receiver) } },
        ];
        const asked = [
          ...levels.flatMap((commitment): [string, unknown[]][] => [
            ...signatures.map((each): [string, unknown[]] => ['signatureSubscribe', [each, { commitment }]]),
            ['accountSubscribe', [account, { commitment, encoding: 'jsonParsed' }]],
            ['logsSubscribe', [{ mentions: [account] }, { commitment }]],
            [
              'programSubscribe',
              ['TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA', { commitment, encoding: 'base64', filters }],
            ],
          ]),
          ['accountSubscribe', [keyOf(payer)]],
          ['slotSubscribe', []],
          ['rootSubscribe', []],
        ] as const;
        for (const [id, [method, params]] of asked.entries())
          socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
        const isReply = (each: unknown): each is { id: number; result: number } => Object.hasOwn(each as object, 'id');
        await until(() => heard.filter(isReply).length === asked.length);
        for (const bytes of transfers) await land(url, bytes);
        const idOf = new Map(heard.filter(isReply).map(({ id, result }) => [result, id]));
        const signatureIn = ({ params }: Notice) => (params.result as { value: { signature: string } }).value.signature;
        // Transactions of earlier specs may still land and mention the account: only the two of this one count.
        const isOurs = (notice: Notice) =>
          notice.method !== 'logsNotification' || signatures.includes(signatureIn(notice));
        const notices = (id: number): readonly Notice[] => {
          const all = heard
            .filter((each): each is Notice => !isReply(each))
            .filter((each) => idOf.get(each.params.subscription) === id && isOurs(each));
          if (asked[id]?.[0] !== 'logsSubscribe') return all;
          // Agave executes a transaction again, and notifies twice, if a slot ends before it has recorded the transaction.
          return [...new Map(all.map((each) => [signatureIn(each), each])).values()];
        };
        const isWhole = () => asked.every(([method], id) => notices(id).length > (method === 'logsSubscribe' ? 1 : 0));
        await until(isWhole);
        socket.terminate();
        return asked.map(([method], id) => {
          const all = notices(id).map(({ method, params: { result } }) => ({ method, result }));
          // A slot brings one notification or two, as the transfers fall into one block or two.
          const isOnce = ['slotSubscribe', 'rootSubscribe', 'programSubscribe', 'accountSubscribe'].includes(method);
          return { method, notices: isOnce ? shapeOf(all.slice(0, 1)) : all };
        });
      });
      assertSame('notifications', told, (all) => withoutVarying(all, false));
    });
  });
});

describe('the table of differences between Agave and the sandbox’s Solana', () => {
  it('is in the docs as the specs have it', () => {
    const page = readFileSync(new URL('../../docs/contribute/real-chains.md', import.meta.url), 'utf8');
    for (const { method, real, sandbox, reason } of meantDifferences) {
      const row = `| ${method} | ${real} | ${sandbox} | ${reason} |`;
      assert.ok(page.includes(row), row);
    }
  });
});

interface Notice {
  readonly method: string;
  readonly params: { readonly subscription: number; readonly result: unknown };
}

const httpShape = ({ status, contentType, body }: HttpAnswer) => ({
  status,
  contentType,
  body: Array.isArray(body) ? body.map(replyShape) : replyShape(body),
});

function replyShape(reply: unknown): unknown {
  if (Array.isArray(reply)) return reply.map(replyShape);
  if (typeof reply !== 'object' || reply === null || !('error' in reply)) return shapeOf(reply);
  const { error, ...others } = reply as Reply;
  return { ...(shapeOf(others) as object), error: errorShape(error) };
}

/** The code as it is, the text without the values in it. */
function errorShape(error: Reply['error']): unknown {
  if (!error) return undefined;
  const message = error.message
    .replace(/(Versioned\w+: ).*/, '$1…')
    .replace(/[1-9A-HJ-NP-Za-km-z]{32,}/g, 'key')
    .replace(/\d+/g, '#');
  return { ...error, message, data: shapeOf(error.data ?? null) };
}

/** Values that differ between two chains that are otherwise the same. */
const varying: ReadonlySet<string> = new Set(
  `slot transactionIndex blockTime blockHeight blockhash previousBlockhash parentSlot recentBlockhash lastValidBlockHeight
   signature signatures apiVersion contextSlot loadedAccountsDataSize computeUnitsConsumed unitsConsumed costUnits`.split(
    /\s+/,
  ),
);
/** A transaction becomes final while the spec runs. */
const passing: ReadonlySet<string> = new Set(['confirmations', 'confirmationStatus']);
const ofPrograms: ReadonlySet<string> = new Set(['logMessages', 'logs', 'preBalances', 'postBalances']);
const longBytes = /^[A-Za-z0-9+/=]{81,}$/;

function withoutVarying(value: unknown, isOtherProgram: boolean, key = ''): unknown {
  if (passing.has(key)) return 'passes';
  if (varying.has(key) || (isOtherProgram && ofPrograms.has(key))) return shapeOf(value);
  if (key === 'message' && typeof value === 'string') return value.replace(/(Versioned\w+: ).*/, '$1…');
  if (Array.isArray(value)) return value.map((each) => withoutVarying(each, isOtherProgram));
  if (typeof value === 'object' && value !== null)
    return mapFields(value, (each, field) => withoutVarying(each, isOtherProgram, field));
  if (typeof value !== 'string') return value;
  if (longBytes.test(value)) return 'bytes';
  return value.replace(/consumed \d+ of \d+/, 'consumed');
}

/** A block without votes and rewards: the sandbox's chain has no validators. */
function withoutVotes(reply: Reply): unknown {
  const { transactions, signatures, rewards, ...block } = (reply.result ?? {}) as Record<string, unknown>;
  if (reply.error) return { error: errorShape(reply.error) };
  const isVote = (transaction: unknown) => JSON.stringify(transaction).includes('Vote111111111111111111111111111111');
  return {
    ...block,
    ...(rewards !== undefined && { rewards: 'a list' }),
    ...(signatures !== undefined && { signatures }),
    ...(transactions !== undefined && { transactions: (transactions as unknown[]).filter((each) => !isVote(each)) }),
  };
}

function generatedCall(keys: readonly unknown[]): fc.Arbitrary<readonly [string, readonly unknown[]]> {
  const number = fc.oneof(
    fc.integer(),
    fc.double({ min: 0.01, max: 1e6, noNaN: true }).filter((each) => !Number.isInteger(each)),
  );
  const words = ['processed', 'confirmed', 'base64', 'base58', 'jsonParsed', 'json', 'full', 'none'];
  const text = fc.oneof(fc.constantFrom(...words), fc.string({ unit: 'grapheme-ascii', maxLength: 20 }));
  const any = fc.oneof(number, text, fc.boolean(), fc.constant(null));
  const key = fc.oneof(fc.constantFrom(...keys), any);
  const signature = fc.oneof(fc.constantFrom(...unknownSignatures), any);
  const slot = fc.constantFrom(1_000_000_000, 1e15, -1, '7', null, 1.5);
  const options = fc.record(
    {
      commitment: any,
      encoding: any,
      minContextSlot: fc.constantFrom(0, 1e15, -1, 'x', null, 0.5),
      dataSlice: fc.oneof(any, fc.record({ offset: any, length: any }, { requiredKeys: [] })),
      maxSupportedTransactionVersion: any,
      transactionDetails: any,
      rewards: any,
      limit: any,
      before: signature,
      until: signature,
      searchTransactionHistory: any,
      sigVerify: any,
      skipPreflight: any,
      withContext: any,
    },
    { requiredKeys: [] },
  );
  const config = fc.oneof(
    { weight: 6, arbitrary: options },
    { weight: 1, arbitrary: fc.constantFrom(...contexts) },
    any,
  );
  const list = (of: fc.Arbitrary<unknown>) => fc.oneof({ weight: 4, arbitrary: fc.array(of, { maxLength: 4 }) }, any);
  const token = fc.oneof(
    fc.record({ mint: key }),
    fc.record({ programId: key }),
    fc.record({ mint: key, more: key }),
    any,
  );
  const shapes: Readonly<Record<string, readonly fc.Arbitrary<unknown>[]>> = {
    getSlot: [config],
    getEpochInfo: [config],
    getLatestBlockhash: [config],
    isBlockhashValid: [key, config],
    getBalance: [key, config],
    getAccountInfo: [key, config],
    getMultipleAccounts: [list(key), config],
    getTokenAccountBalance: [key, config],
    getTokenAccountsByOwner: [key, token, config],
    getSignatureStatuses: [list(signature), config],
    getSignaturesForAddress: [key, config],
    getTransaction: [signature, config],
    getBlock: [slot, config],
    getBlocks: [slot, fc.oneof(slot, config), config],
    getFeeForMessage: [text, config],
    sendTransaction: [text, config],
    simulateTransaction: [text, config],
  };
  const ofMethod = ([method, all]: [string, readonly fc.Arbitrary<unknown>[]]) =>
    fc
      .tuple(fc.tuple(...all), fc.integer({ min: 0, max: all.length }))
      .map(([params, length]): readonly [string, readonly unknown[]] => [method, params.slice(0, length)]);
  return fc.oneof(...Object.entries(shapes).map(ofMethod));
}

function subscriptionBodies({ mint, payer }: SolanaWorld): readonly string[] {
  const [key, wallet] = [keyOf(mint), keyOf(payer)];
  const usual = { jsonrpc: '2.0', id: 1, method: 'slotSubscribe' };
  const notification = { jsonrpc: '2.0', method: 'slotSubscribe' };
  const program = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
  const filters = [
    5,
    [{ dataSize: 'x' }],
    [{ other: 1 }],
    [{ memcmp: { offset: 0, bytes: 'O0' } }],
    [{ dataSize: 165 }],
  ];
  const options: readonly unknown[] = [...contexts, { encoding: 'hex' }, { encoding: 'jsonParsed' }, { dataSlice: 5 }];
  const bad = [undefined, [], {}, ...notKeys.map((each) => [each])];
  const [signature] = unknownSignatures;
  const mentions = [[key], [], [key, wallet], ['abc'], 5];
  const table: Readonly<Record<string, readonly unknown[]>> = {
    signatureSubscribe: [
      ...bad,
      ...contexts.map((config) => [signature, config]),
      ...[true, 5, null].map((enableReceivedNotification) => [signature, { enableReceivedNotification }]),
      [signature, {}, 1],
    ],
    accountSubscribe: [...bad, [key], ...options.map((config) => [key, config])],
    logsSubscribe: [
      ...[undefined, [], ['abc'], ['all'], ['allWithVotes'], [{}], [5], [null], [{ other: 1 }], ['mentions']],
      ...mentions.map((each) => [{ mentions: each }]),
      ...contexts.map((config) => [{ mentions: [key] }, config]),
    ],
    programSubscribe: [
      ...bad,
      [wallet],
      ...options.map((config) => [wallet, config]),
      ...filters.map((each) => [program, { filters: each }]),
      [wallet, { filters: Array.from({ length: 5 }, () => ({ dataSize: 1 })) }],
    ],
    slotSubscribe: [undefined, [], [1], {}],
    rootSubscribe: [undefined, [], [1], {}],
    slotsUpdatesSubscribe: [undefined],
    ...Object.fromEntries(
      ['blockSubscribe', 'voteSubscribe', 'getSlot', 'nothing'].map((method) => [method, [undefined, ['all']]]),
    ),
    ...Object.fromEntries(
      ['signature', 'account', 'logs', 'program', 'slot', 'root'].map((kind) => [
        `${kind}Unsubscribe`,
        [undefined, [], {}, [99_999_999], ['x'], [null], [-1], [1.5], [1, 2]],
      ]),
    ),
  };
  const calls = Object.entries(table).flatMap(([method, all]) => all.map((params) => ({ ...usual, method, params })));
  const texts = [...envelopeBodies(usual, notification), ...calls].map((body) =>
    typeof body === 'string' ? body : JSON.stringify(body),
  );
  // An empty frame is none, for some clients.
  return texts.filter((text) => text !== '');
}
