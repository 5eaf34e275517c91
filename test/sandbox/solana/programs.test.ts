/** The local Solana's notifications about a program's accounts: programSubscribe, as the unmodified clients request it. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Address, type Base58EncodedBytes, createSolanaRpcSubscriptions } from '@solana/kit';
import { getTokenDecoder, getTokenSize, TOKEN_PROGRAM_ADDRESS } from '@solana-program/token';
import { type AccountInfo, Keypair, PublicKey } from 'solana-web3-v1';
import { WebSocket } from 'ws';
import { forkTo, fundWallet, plantMint } from '../../../sandbox/solana/controls.ts';
import { of, type SolanaLab, solanaLab, tokenAccount, usdcMint } from '../../support/solana.ts';

const otherMint = Keypair.generate().publicKey;

interface Told {
  readonly context: { readonly slot: number };
  readonly value: { readonly pubkey: string; readonly account: { readonly data: unknown; readonly space: number } };
}

interface News {
  readonly id?: number;
  readonly result?: number | boolean;
  readonly error?: { readonly code: number; readonly message: string };
  readonly method?: string;
  readonly params?: { readonly subscription: number; readonly result: Told };
}

describe('local Solana: accounts of a program that change', () => {
  let lab: SolanaLab;
  let payer: Keypair;
  beforeEach(async () => {
    lab = await solanaLab();
    payer = await lab.person();
    await plantMint(lab.solana.rpcUrl, of(otherMint), 6);
    lab.solana.advanceSlots(6);
  });
  afterEach(() => lab.stop());
  const pay = async (amount = 1n, to = Keypair.generate().publicKey) => {
    await lab.pay({ from: payer, to, amount });
    return to;
  };

  /** Messages on a connection without a client. */
  async function subscribed(...params: readonly unknown[]) {
    const socket = new WebSocket(lab.solana.wsUrl);
    const heard: News[] = [];
    socket.on('message', (data) => heard.push(JSON.parse(String(data))));
    await once(socket, 'open');
    socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'programSubscribe', params }));
    await once(socket, 'message');
    const [answer] = heard;
    return {
      answer,
      async told(): Promise<readonly Told[]> {
        const ponged = once(socket, 'pong');
        socket.ping();
        await ponged;
        socket.terminate();
        return heard.flatMap(({ method, params: said }) => {
          if (method !== 'programNotification') return [];
          assert.equal(said?.subscription, answer?.result);
          return said ? [said.result] : [];
        });
      },
    };
  }
  const whole = { encoding: 'base64', commitment: 'confirmed' };
  const tokensIn = (told: readonly Told[]) =>
    told.map(({ value }) => {
      const [data] = value.account.data as [string];
      return getTokenDecoder().decode(Buffer.from(data, 'base64'));
    });
  const ownersOf = (told: readonly Told[]) => tokensIn(told).map(({ owner }) => String(owner));
  const usdcOnly = [{ dataSize: getTokenSize() }, { memcmp: { offset: 0, bytes: usdcMint.toBase58() } }];

  it('are notified to @solana/kit, filtered, once each slot that changed them is confirmed', async () => {
    const to = await pay();
    const slot = BigInt(await lab.connection.getSlot('processed'));
    const abort = new AbortController();
    const news = await createSolanaRpcSubscriptions(lab.solana.wsUrl)
      .programNotifications(TOKEN_PROGRAM_ADDRESS, {
        commitment: 'confirmed',
        encoding: 'base64',
        filters: [
          { dataSize: BigInt(getTokenSize()) },
          { memcmp: { offset: 32n, bytes: to.toBase58() as Base58EncodedBytes, encoding: 'base58' } },
        ],
      })
      .subscribe({ abortSignal: abort.signal });
    const next = news[Symbol.asyncIterator]().next();
    lab.solana.advanceSlots();
    const { context, value } = (await next).value ?? assert.fail();
    assert.equal(context.slot, slot);
    assert.equal(value.pubkey, String(await tokenAccount(to)) as Address);
    const { owner, amount, mint } = getTokenDecoder().decode(Buffer.from(value.account.data[0], 'base64'));
    assert.deepEqual([owner, amount, mint], [of(to), 1n, of(usdcMint)]);
    abort.abort();
  });

  it('are notified to @solana/web3.js', async () => {
    const found: { accountId: PublicKey; accountInfo: AccountInfo<Buffer> }[] = [];
    const to = Keypair.generate().publicKey;
    const subscription = lab.connection.onProgramAccountChange(
      new PublicKey(TOKEN_PROGRAM_ADDRESS),
      (each) => found.push(each),
      { commitment: 'confirmed', filters: [{ memcmp: { offset: 32, bytes: to.toBase58() } }] },
    );
    // The client subscribes once its connection is open, and earlier payments are not reported.
    for (let paid = 0; paid < 500 && found.length === 0; paid++) {
      await pay(7n, to);
      lab.solana.advanceSlots();
      await sleep(5);
    }
    await lab.connection.removeProgramAccountChangeListener(subscription);
    const [{ accountId, accountInfo } = assert.fail('never told')] = found;
    assert.equal(String(accountId), String(await tokenAccount(to)));
    assert.equal(accountInfo.data.length, getTokenSize());
  });

  it('are those that a confirmed slot changed, both ends of a payment, in their state at its end', async () => {
    const { answer, told } = await subscribed(TOKEN_PROGRAM_ADDRESS, { ...whole, filters: usdcOnly });
    assert.equal(typeof answer?.result, 'number');
    const to = await pay(1n);
    await pay(2n, to);
    lab.solana.advanceSlots();
    await pay(3n, to);
    const heard = await told();
    assert.deepEqual(ownersOf(heard).toSorted(), [String(payer.publicKey), String(to)].toSorted());
    const amounts = new Map(tokensIn(heard).map(({ owner, amount }) => [String(owner), amount]));
    assert.equal(amounts.get(String(to)), 3n);
  });

  it('are notified slot by slot, also when many slots arrive at once', async () => {
    const { told } = await subscribed(TOKEN_PROGRAM_ADDRESS, { ...whole, filters: usdcOnly });
    const first = await lab.connection.getSlot('processed');
    await pay();
    lab.solana.advanceSlots(500);
    assert.deepEqual(
      (await told()).map(({ context }) => context.slot),
      [first, first],
    );
  });

  for (const commitment of ['processed', 'confirmed', 'finalized'] as const)
    it(`are notified when their slot is ${commitment}, and not before`, async () => {
      const before = await subscribed(TOKEN_PROGRAM_ADDRESS, { ...whole, commitment, filters: usdcOnly });
      const after = await subscribed(TOKEN_PROGRAM_ADDRESS, { ...whole, commitment, filters: usdcOnly });
      const slots = commitment === 'finalized' ? 4 : 1;
      await pay();
      lab.solana.advanceSlots(slots - 1);
      assert.deepEqual(await before.told(), []);
      lab.solana.advanceSlots();
      assert.equal((await after.told()).length, 2);
    });

  it('are not notified of earlier changes, of other programs, of other tokens, nor of changes that a fork removed', async () => {
    await pay();
    lab.solana.advanceSlots(6);
    const { told } = await subscribed(TOKEN_PROGRAM_ADDRESS, { ...whole, filters: usdcOnly });
    const slot = await lab.connection.getSlot('processed');
    await fundWallet(lab.solana.rpcUrl, Keypair.generate().publicKey.toBase58(), {
      lamports: 1n,
      tokens: { [otherMint.toBase58()]: 5n },
    });
    lab.solana.advanceSlots();
    await pay();
    await forkTo(lab.solana.rpcUrl, slot);
    lab.solana.advanceSlots(6);
    assert.deepEqual(await told(), []);
  });

  it('are not notified when they are closed: they belong to the program no more', async () => {
    const poor = await lab.person(0n);
    const account = await tokenAccount(poor.publicKey);
    await pay(1n, poor.publicKey);
    await lab.pay({ from: poor, to: payer.publicKey, amount: 1n });
    lab.solana.advanceSlots(2);
    const { told } = await subscribed(TOKEN_PROGRAM_ADDRESS, { ...whole, filters: usdcOnly });
    await lab.send(await lab.signed(poor, [lab.close(poor.publicKey, account)]));
    lab.solana.advanceSlots(2);
    assert.deepEqual(await told(), []);
  });

  it('have all of their data notified, whatever slice is requested, and none that is too long for base 58', async () => {
    const slice = { dataSlice: { offset: 32, length: 32 }, filters: usdcOnly };
    const base64 = await subscribed(TOKEN_PROGRAM_ADDRESS, { ...whole, ...slice });
    const base58 = await subscribed(TOKEN_PROGRAM_ADDRESS, { ...whole, ...slice, encoding: 'base58' });
    const parsed = await subscribed(TOKEN_PROGRAM_ADDRESS, { ...whole, ...slice, encoding: 'jsonParsed' });
    const to = await pay();
    lab.solana.advanceSlots();
    const heard = await base64.told();
    assert.ok(ownersOf(heard).includes(String(to)));
    for (const { value } of heard) assert.equal(value.account.space, getTokenSize());
    for (const { value } of await base58.told())
      assert.deepEqual(value.account.data, ['error: data too large for bs58 encoding', 'base58']);
    const infos = (await parsed.told()).map(
      ({ value }) => (value.account.data as { parsed: { info: { owner: string } } }).parsed.info.owner,
    );
    assert.ok(infos.includes(String(to)));
  });

  it('are found by bytes in base 64, by bytes one by one, and by being initialised', async () => {
    const key = usdcMint.toBuffer();
    const all = [
      await subscribed(TOKEN_PROGRAM_ADDRESS, {
        ...whole,
        filters: [{ memcmp: { offset: 0, bytes: key.toString('base64'), encoding: 'base64' } }, 'tokenAccountState'],
      }),
      await subscribed(TOKEN_PROGRAM_ADDRESS, {
        ...whole,
        filters: [{ memcmp: { offset: 0, bytes: [...key] } }, { dataSize: getTokenSize() }],
      }),
      await subscribed(TOKEN_PROGRAM_ADDRESS, whole),
    ];
    const beyond = await subscribed(TOKEN_PROGRAM_ADDRESS, {
      ...whole,
      filters: [{ memcmp: { offset: 160, bytes: key.toString('base64'), encoding: 'base64' } }],
    });
    await pay();
    lab.solana.advanceSlots();
    for (const each of all) assert.equal((await each.told()).length, 2);
    assert.deepEqual(await beyond.told(), []);
  });

  it('are refused if a node would not understand which ones are meant', async () => {
    const memcmp = (bytes: unknown, more: object = {}) => ({ memcmp: { offset: 0, bytes, ...more } });
    const wrong: readonly (readonly unknown[])[] = [
      ['abc'],
      [TOKEN_PROGRAM_ADDRESS, { commitment: 'confirmed' }, 'more'],
      [TOKEN_PROGRAM_ADDRESS, { encoding: 'hex' }],
      [TOKEN_PROGRAM_ADDRESS, { filters: {} }],
      [TOKEN_PROGRAM_ADDRESS, { filters: Array.from({ length: 5 }, () => ({ dataSize: 165 })) }],
      [TOKEN_PROGRAM_ADDRESS, { filters: [{ dataSize: '165' }] }],
      [TOKEN_PROGRAM_ADDRESS, { filters: [{ size: 165 }] }],
      [TOKEN_PROGRAM_ADDRESS, { filters: [memcmp('0OIl')] }],
      [TOKEN_PROGRAM_ADDRESS, { filters: [memcmp('1'.repeat(129))] }],
      [TOKEN_PROGRAM_ADDRESS, { filters: [memcmp('1'.repeat(176))] }],
      [TOKEN_PROGRAM_ADDRESS, { filters: [memcmp('A'.repeat(176), { encoding: 'base64' })] }],
      [TOKEN_PROGRAM_ADDRESS, { filters: [memcmp('%', { encoding: 'base64' })] }],
      [TOKEN_PROGRAM_ADDRESS, { filters: [memcmp('1', { encoding: 'binary' })] }],
    ];
    for (const params of wrong) {
      const { answer, told } = await subscribed(...params);
      assert.equal(answer?.error?.code, -32602, JSON.stringify(params));
      assert.deepEqual(await told(), []);
    }
  });

  it('are no longer notified after programUnsubscribe', async () => {
    const socket = new WebSocket(lab.solana.wsUrl);
    const heard: News[] = [];
    socket.on('message', (data) => heard.push(JSON.parse(String(data))));
    await once(socket, 'open');
    const say = async (method: string, params: readonly unknown[]) => {
      socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }));
      await once(socket, 'message');
      return heard.at(-1)?.result;
    };
    const id = await say('programSubscribe', [TOKEN_PROGRAM_ADDRESS, whole]);
    assert.equal(await say('programUnsubscribe', [id]), true);
    await pay();
    lab.solana.advanceSlots(2);
    const ponged = once(socket, 'pong');
    socket.ping();
    await ponged;
    assert.equal(heard.length, 2);
    socket.terminate();
  });
});
