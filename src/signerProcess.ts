/** The role `signer`: the treasury's keys in a separate process, which trusts neither its callers nor their records. */
import { eventCodec } from '../commands/codec.ts';
import { createHandle } from '../commands/handle.ts';
import { type Clock, Unavailable } from '../commands/ports.ts';
import { chainOf } from '../domain/chains.ts';
import { assert } from '../domain/decider.ts';
import { allFamilies, ownDepositsOf } from './chains/families.ts';
import type { DepositOwner } from './chains/family.ts';
import { createSpentLately, spendingKey } from './chains/money/spending.ts';
import { openLines } from './chains/node/metrics.ts';
import { openChains, openSigners } from './chains/open.ts';
import { type Config, ConfigError } from './config.ts';
import { brokenChains } from './core.ts';
import { randomIds } from './process/system.ts';
import { createLogger, createTelemetry, type Telemetry } from './process/telemetry.ts';
import { parseMasterKey } from './security/masterKey.ts';
import { createBacking } from './signer/backing.ts';
import { createNotary, createSigningRecord } from './signer/notary.ts';
import { createOrders } from './signer/orders.ts';
import type { SignerAccounts } from './signer/protocol.ts';
import { createAnswering, type RequestLine, type SignerServer, startSignerServer } from './signer/server.ts';
import { loadTls } from './signer/settings.ts';
import { openEventStore } from './store/client.ts';
import { embeddedStore, openStore } from './store/index.ts';
import { withSeals } from './store/sealed.ts';
import { createFundingProof } from './workers/payouts/fundingProof.ts';
import { transferOwners } from './workers/payouts/index.ts';

export interface SignerProcess {
  readonly serves: { readonly url: string; readonly roles: Config['roles']; readonly accounts: SignerAccounts };
  stop(): Promise<void>;
}

const askChains_ms = 3_000;

/** @throws ConfigError, NodeNotStarted, and if the port is in use */
export async function startSigner(config: Config, clock: Clock): Promise<SignerProcess> {
  const { server: listening } = config.signing;
  assert(listening !== null && config.eventStoreUrl !== null, 'configuration says where a signer listens and reads');
  const telemetry = createTelemetry(createLogger(config.logLevel));
  const chains = openChains(config, { ...needsNothing, lines: openLines(telemetry.registry) });
  const misfits = await chains.misfits(AbortSignal.timeout(askChains_ms));
  if (misfits.length > 0) throw new ConfigError(misfits);

  const deciding = { clock, ids: randomIds, codec: eventCodec };
  const believing = { masterKey: parseMasterKey(config.masterKey), deciding, tell: brokenChains(telemetry) };
  const log = withSeals(await openStore(config.eventStoreUrl, config.eventStoreClient, telemetry), believing);
  const node = await embeddedStore(config, telemetry);
  const own = withSeals(openEventStore({ url: node.url }), believing);
  await own.sealed();

  const lately = createSpentLately();
  const record = createSigningRecord(createHandle({ ...deciding, store: own.workers }), clock);
  lately.recall(await record.spentLately());
  const signers = openSigners(config, clock, lately);
  const handle = createHandle({ ...deciding, store: log.workers });
  const backing = createBacking({
    handle,
    store: log.workers,
    clock,
    ingesters: new Map([...chains.chains].map(([chainId, { ingester }]) => [chainId, ingester])),
    proveFunding: createFundingProof(chains.chains),
    isOwnDeposit: ownDepositsOf(config.treasuries),
  });
  const notary = createNotary({
    signers,
    rails: new Map([...chains.chains].map(([chainId, { rail }]) => [chainId, rail])),
    orders: createOrders({
      handle,
      owners: transferOwners({
        workHandle: handle,
        clock,
        chains: chains.chains,
        receiverChecks: chains.receiverChecks,
        owed: asksNobody,
        own: null,
        uses: null,
      }),
      backing,
      accountOn: (chainId) => signers.get(chainOf(chainId).family)?.account,
    }),
    record,
    spent: (unsigned, reference) => lately.entries.get(spendingKey(unsigned, reference)),
    clock,
  });
  const answering = createAnswering({ signers, notary, ownerOf: ownersOf(config), newSalt, told: teller(telemetry) });
  const server = await startSignerServer(answering, { ...listening, tls: loadTls(listening.tls) }).catch(closing);
  return {
    serves: { url: server.url, roles: config.roles, accounts: answering.accounts },
    async stop() {
      await server.close();
      await closeStores();
    },
  };

  async function closing(error: unknown): Promise<SignerServer> {
    await closeStores();
    throw error;
  }
  async function closeStores(): Promise<void> {
    await Promise.allSettled([log.close(), own.close()]);
    await node.stop();
  }
}

/** It reads orders; its caller checks what else the treasury owes. */
const asksNobody = async (): Promise<never> => {
  throw new Unavailable('a signer knows no read models');
};

/** It serves no payments: it assigns no address and watches none. */
const needsNothing = {
  takeOwners: async () => {
    throw new Unavailable('a signer gives no deposit out');
  },
  watch: () => ({ open: async () => [], late: async () => [] }),
};

const newSalt = (): string => randomIds.secret();

function ownersOf({ treasuries }: Config): ((salt: string) => DepositOwner) | null {
  const makers = allFamilies.flatMap((family) => {
    const treasury = treasuries[family.name];
    return (treasury && family.depositOwners?.(treasury)) ?? [];
  });
  const [ownerOf] = makers;
  return ownerOf ?? null;
}

/** Logs every request with its outcome; raises an alarm for refusals that concern an operator. */
function teller({ logger, alarm }: Telemetry): (line: RequestLine) => void {
  return ({ refused, failure, ...line }) => {
    if (refused && refused.refused !== 'unavailable')
      alarm(
        'signingRefused',
        { ...line, reason: refused.refused, ...(failure !== undefined && { err: failure }) },
        refused.message,
      );
    else logger.info({ ...line, ...(refused && { refused: refused.message }) }, 'asked to sign');
  };
}
