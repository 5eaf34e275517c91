import Type from 'typebox';
import type {
  Changed,
  ManageMerchant,
  SettlementRequest,
  ShownEndpointSecret,
} from '../../../commands/manageMerchant.ts';
import { type Logo, pictureMax_bytes, pictureTypes } from '../../../commands/ports.ts';
import { findChain, type TokenSymbol } from '../../../domain/chains.ts';
import { isRefusal, type Refusal, refuse } from '../../../domain/decider.ts';
import type { FeeTier } from '../../../domain/merchant/events.ts';
import { formatAmount, microUsdDecimals } from '../../../domain/money.ts';
import { shownPolicy } from '../../../domain/payment/amountPolicy.ts';
import { webhookEndpointsMax } from '../../../domain/webhook.ts';
import type { OwnApp, Settings, ShownWallet } from '../../../queries/apps.ts';
import type { InForce } from '../issueKey.ts';
import { type Answer, type AnyRoute, ok, type Route, route } from '../router.ts';
import type { SettingsResponse } from '../schemas/settings.ts';
import * as schemas from '../schemas/settings.ts';

// An app's settings as the API returns them.

/** @param publicUrl public URL of the service, without a trailing slash */
export const logoUrlOf = (publicUrl: string, digest: string | null): string | null =>
  digest === null ? null : `${publicUrl}/logos/${digest}`;

export function settingsResource(settings: Settings, publicUrl: string): SettingsResponse {
  const { profile, settlement, settlementChange } = settings;
  const { logo, ...shown } = profile;
  return {
    appId: settings.appId,
    registeredAt: settings.registeredAt,
    profile: { ...shown, logoUrl: logoUrlOf(publicUrl, logo) },
    settlement: settlement && walletResource(settlement),
    settlementChange: settlementChange && {
      changeId: settlementChange.changeId,
      settlement: walletResource(settlementChange.wallet),
      effectiveAt: settlementChange.effectiveAt,
    },
    webhookUrl: settings.webhookUrl,
    webhookTypes: [...settings.webhookTypes],
    webhookEndpoints: settings.webhookEndpoints.map(({ endpointId, url, types, fingerprint, rotatedAt }) => ({
      ...{ endpointId, url, types: [...types] },
      ...{ secretFingerprint: fingerprint, secretRotatedAt: rotatedAt },
    })),
    webhookSecretFingerprint: settings.webhookSecretFingerprint,
    webhookSecretRotatedAt: settings.webhookSecretRotatedAt,
    embeddingSites: [...settings.embeddingSites],
    payFrom: settings.payFrom.map(({ chainId, tokenSymbol }) => ({ chainId: String(chainId), tokenSymbol })),
    policy: shownPolicy(settings.policy),
    fees: settings.fees.map(feeResource),
    keylessAllowed: settings.keylessAllowed,
  };
}

const feeResource = ({ sourceChainId, destinationChainId, fixed_microUsd, basisPoints }: FeeTier) => ({
  sourceChainId: sourceChainId && String(sourceChainId),
  destinationChainId: destinationChainId && String(destinationChainId),
  fixed: formatAmount(BigInt(fixed_microUsd), microUsdDecimals),
  basisPoints,
});

const walletResource = ({ chainId, tokenSymbol, receiverAddress, receiverMemo }: ShownWallet) => ({
  chainId: String(chainId),
  tokenSymbol: tokenSymbol as TokenSymbol,
  receiverAddress,
  receiverMemo,
});

const tag = 'Merchant';
const base = '/merchant-api/me';
const errors = ['invalidRequest', 'unauthenticated', 'forbidden'] as const;

/** Reads of settings, for signed-in people. */
export interface SettingsReads {
  readonly getSettings: (appId: string) => Promise<Settings | null>;
  /** The apps of a person, with their names. */
  readonly listApps: (developerId: string) => Promise<readonly OwnApp[]>;
}

/** Needs of the routes of an app's settings. */
export interface SettingsRoutesDeps extends SettingsReads, InForce {
  readonly merchants: Pick<
    ManageMerchant,
    | 'setProfile'
    | 'setLogo'
    | 'requestSettlement'
    | 'cancelSettlement'
    | 'setPayFrom'
    | 'setPolicy'
    | 'setEmbeddingSites'
    | 'setWebhookUrl'
    | 'setWebhookTypes'
    | 'rotateSecret'
    | 'addEndpoint'
    | 'setEndpointTypes'
    | 'rotateEndpointSecret'
    | 'removeEndpoint'
  >;
  readonly publicUrl: () => string;
}

/** Settings for an app's owner. */
export const settingsRoutes = (deps: SettingsRoutesDeps): readonly AnyRoute[] => [
  ...reading(deps),
  ...branding(deps),
  ...settlement(deps),
  ...webhook(deps),
  ...endpoints(deps),
  embedding(deps),
  payFrom(deps),
  policy(deps),
];

const answers: Route['answers'] = {
  200: { description: 'The current settings', schema: schemas.SettingsResponse },
};

/** Returns the settings once the change can be read. */
async function shownAfter(
  deps: SettingsRoutesDeps,
  appId: string,
  changed: Changed | Refusal,
): Promise<Answer | Refusal> {
  if (isRefusal(changed)) return changed;
  await deps.shown(changed);
  return settingsOf(deps, appId);
}

async function settingsOf(deps: SettingsRoutesDeps, appId: string): Promise<Answer | Refusal> {
  const settings = await deps.getSettings(appId);
  if (!settings) return refuse('unavailable', 'the settings of the app are not known here yet: try again');
  return ok(settingsResource(settings, deps.publicUrl()));
}

const reading = (deps: SettingsRoutesDeps): readonly AnyRoute[] => [
  route({
    method: 'get',
    path: base,
    auth: 'app',
    answers,
    errors: [...errors, 'scope_insufficient'],
    doc: { id: 'getSettings', tag, summary: 'Read the app’s settings' },
    handle: ({ caller }) => settingsOf(deps, caller.appId),
  }),
  route({
    method: 'get',
    path: `${base}/apps`,
    auth: 'person',
    answers: { 200: { description: 'Your apps', schema: schemas.AppsResponse } },
    errors,
    doc: { id: 'listApps', tag, summary: 'List your apps' },
    async handle({ caller }) {
      const apps = await deps.listApps(caller.developerId);
      const data = apps.map(({ logo, ...app }) => ({ ...app, logoUrl: logoUrlOf(deps.publicUrl(), logo) }));
      return ok({ data });
    },
  }),
];

const branding = (deps: SettingsRoutesDeps): readonly AnyRoute[] => [
  route({
    method: 'post',
    path: `${base}/profile`,
    auth: 'owner',
    body: schemas.ProfileRequest,
    answers,
    errors,
    doc: { id: 'setProfile', tag, summary: 'Change what payers see of the app' },
    handle: async ({ caller: { appId }, body, by }) =>
      shownAfter(deps, appId, await deps.merchants.setProfile(appId, body, by)),
  }),
  route({
    method: 'post',
    path: `${base}/logo`,
    auth: 'owner',
    upload: { types: pictureTypes, max_bytes: pictureMax_bytes },
    answers,
    errors,
    doc: {
      id: 'setLogo',
      tag,
      summary: 'Upload the app’s logo',
      // Formatting a number loads data of languages, which a start without the document does not need.
      get description() {
        return `The picture itself as the body, at most ${pictureMax_bytes.toLocaleString('en-US')} bytes. The service decodes and re-encodes it with at most 512 × 512 pixels, without metadata; an animation keeps its first picture.`;
      },
    },
    handle: async ({ caller: { appId }, body, by }) =>
      shownAfter(deps, appId, await deps.merchants.setLogo(appId, body as Uint8Array, by)),
  }),
  route({
    method: 'post',
    path: `${base}/logo/remove`,
    auth: 'owner',
    answers,
    errors,
    doc: { id: 'removeLogo', tag, summary: 'Remove the app’s logo' },
    handle: async ({ caller: { appId }, by }) => shownAfter(deps, appId, await deps.merchants.setLogo(appId, null, by)),
  }),
];

const settlement = (deps: SettingsRoutesDeps): readonly AnyRoute[] => [
  route({
    method: 'post',
    path: `${base}/settlement`,
    auth: 'owner',
    body: schemas.SettlementRequest,
    answers,
    errors,
    doc: {
      id: 'requestSettlement',
      tag,
      summary: 'Ask for another settlement wallet',
      description:
        'The first wallet is in force at once. Another one waits for the installation’s cool-down, returned as settlementChange, and the owner gets a mail; a request for the wallet in force cancels it. Payments keep the wallet of their creation.',
    },
    async handle({ caller: { appId }, body, by }) {
      const wallet = readWallet(body);
      if (isRefusal(wallet)) return wallet;
      return shownAfter(deps, appId, await deps.merchants.requestSettlement(appId, wallet, by));
    },
  }),
  route({
    method: 'post',
    path: `${base}/settlement/cancel`,
    auth: 'owner',
    answers,
    errors: [...errors, 'conflict'],
    doc: { id: 'cancelSettlement', tag, summary: 'Call off a change of the settlement wallet' },
    handle: async ({ caller: { appId }, by }) =>
      shownAfter(deps, appId, await deps.merchants.cancelSettlement(appId, by)),
  }),
];

/** The command makes all further checks. */
export function readWallet(body: schemas.SettlementRequest): SettlementRequest | Refusal {
  const chain = findChain(body.chainId);
  if (!chain) return refuse('invalidRequest', `unknown chain ${body.chainId}: see the ChainId schema`, '/chainId');
  const { receiverAddress, receiverMemo = null } = body;
  return { chainId: chain.id, tokenSymbol: body.tokenSymbol.toUpperCase(), receiverAddress, receiverMemo };
}

const payFrom = (deps: SettingsRoutesDeps): AnyRoute =>
  route({
    method: 'post',
    path: `${base}/pay-from`,
    auth: 'owner',
    body: schemas.PayFromRequest,
    answers,
    errors,
    doc: {
      id: 'setPayFrom',
      tag,
      summary: 'Set what payers may choose to pay from',
      description:
        'The whole list, for payments created from now on without another setting: each offers these in addition to its own source, if they are served here and can represent its amount.',
    },
    handle: async ({ caller: { appId }, body, by }) =>
      shownAfter(deps, appId, await deps.merchants.setPayFrom(appId, body.payFrom, by)),
  });

const policy = (deps: SettingsRoutesDeps): AnyRoute =>
  route({
    method: 'post',
    path: `${base}/policy`,
    auth: 'owner',
    body: schemas.PolicyRequest,
    answers,
    errors,
    doc: {
      id: 'setPolicy',
      tag,
      summary: 'Set the policy for money that differs from the agreed amount or token',
      description:
        'An underpayment, an overpayment, late money, another token or another chain. For payments created from now on; existing payments keep their policy. How it works: docs/integrate/policies.md.',
    },
    handle: async ({ caller: { appId }, body, by }) =>
      shownAfter(deps, appId, await deps.merchants.setPolicy(appId, body, by)),
  });

const embedding = (deps: SettingsRoutesDeps): AnyRoute =>
  route({
    method: 'post',
    path: `${base}/embedding`,
    auth: 'owner',
    body: schemas.EmbeddingRequest,
    answers,
    errors,
    doc: {
      id: 'setEmbeddingSites',
      tag,
      summary: 'Set the sites that may show payment pages in a frame',
      description: 'The whole list: an omitted site is removed. How a page is embedded: docs/integrate/embedding.md.',
    },
    handle: async ({ caller: { appId }, body, by }) =>
      shownAfter(deps, appId, await deps.merchants.setEmbeddingSites(appId, body.sites, by)),
  });

const webhook = (deps: SettingsRoutesDeps): readonly AnyRoute[] => [
  route({
    method: 'post',
    path: `${base}/webhook`,
    auth: 'owner',
    body: schemas.WebhookUrlRequest,
    answers,
    errors,
    doc: {
      id: 'setWebhookUrl',
      tag,
      summary: 'Set or remove the webhook URL',
      description: 'For payments created from now on; existing payments keep their policy.',
    },
    handle: async ({ caller: { appId }, body, by }) =>
      shownAfter(deps, appId, await deps.merchants.setWebhookUrl(appId, body.webhookUrl, by)),
  }),
  route({
    method: 'post',
    path: `${base}/webhook/types`,
    auth: 'owner',
    body: schemas.WebhookTypesRequest,
    answers,
    errors,
    doc: {
      id: 'setWebhookTypes',
      tag,
      summary: 'Choose further webhook types',
      description:
        'The complete list besides payment_payin_completed and payment_payout_completed, which are always sent. For payments created from now on; existing payments keep their types.',
    },
    handle: async ({ caller: { appId }, body, by }) =>
      shownAfter(deps, appId, await deps.merchants.setWebhookTypes(appId, body.webhookTypes, by)),
  }),
  route({
    method: 'post',
    path: `${base}/webhook/rotate`,
    auth: 'owner',
    answers: { 200: { description: 'The new secret', schema: schemas.WebhookSecretResponse } },
    errors,
    doc: {
      id: 'rotateWebhookSecret',
      tag,
      summary: 'Make a new webhook secret',
      description: 'The old one stops at once.',
    },
    async handle({ caller: { appId }, by }) {
      const rotated = await deps.merchants.rotateSecret(appId, by);
      if (isRefusal(rotated)) return rotated;
      // Only this answer contains the secret. Webhooks read it from the log, so it is in force.
      await deps.shown(rotated).catch(() => {});
      const { position: _, ...secret } = rotated;
      return ok(secret);
    },
  }),
];

const endpoints = (deps: SettingsRoutesDeps): readonly AnyRoute[] => {
  const secretAnswers = { 200: { description: 'The new secret', schema: schemas.EndpointSecretResponse } };
  /** Only this answer contains the secret. Webhooks read it from the log, so it is in force. */
  async function secretOnce(made: ShownEndpointSecret | Refusal): Promise<Answer | Refusal> {
    if (isRefusal(made)) return made;
    await deps.shown(made).catch(() => {});
    const { position: _, ...secret } = made;
    return ok(secret);
  }
  return [
    route({
      method: 'post',
      path: `${base}/webhook/endpoints`,
      auth: 'owner',
      body: schemas.WebhookEndpointRequest,
      answers: secretAnswers,
      errors,
      doc: {
        id: 'addWebhookEndpoint',
        tag,
        summary: 'Add a webhook endpoint',
        description: `At most ${webhookEndpointsMax} besides the webhook URL. For payments created from now on.`,
      },
      handle: async ({ caller: { appId }, body, by }) => secretOnce(await deps.merchants.addEndpoint(appId, body, by)),
    }),
    route({
      method: 'post',
      path: `${base}/webhook/endpoints/{id}/types`,
      auth: 'owner',
      params: schemas.EndpointPath,
      body: schemas.EndpointTypesRequest,
      answers,
      errors: [...errors, 'notFound'],
      doc: {
        id: 'setWebhookEndpointTypes',
        tag,
        summary: 'Choose the types of a webhook endpoint',
        description: 'The complete list, for payments created from now on; existing payments keep their types.',
      },
      handle: async ({ caller: { appId }, params, body, by }) =>
        shownAfter(deps, appId, await deps.merchants.setEndpointTypes(appId, params.id, body.types, by)),
    }),
    route({
      method: 'post',
      path: `${base}/webhook/endpoints/{id}/rotate`,
      auth: 'owner',
      params: schemas.EndpointPath,
      answers: secretAnswers,
      errors: [...errors, 'notFound'],
      doc: {
        id: 'rotateWebhookEndpointSecret',
        tag,
        summary: 'Make a new secret for a webhook endpoint',
        description: 'The old one stops at once.',
      },
      handle: async ({ caller: { appId }, params, by }) =>
        secretOnce(await deps.merchants.rotateEndpointSecret(appId, params.id, by)),
    }),
    route({
      method: 'post',
      path: `${base}/webhook/endpoints/{id}/remove`,
      auth: 'owner',
      params: schemas.EndpointPath,
      answers,
      errors: [...errors, 'notFound'],
      doc: {
        id: 'removeWebhookEndpoint',
        tag,
        summary: 'Remove a webhook endpoint',
        description: 'It gets nothing more, also of existing payments: their webhooks end with endpointRemoved.',
      },
      handle: async ({ caller: { appId }, params, by }) =>
        shownAfter(deps, appId, await deps.merchants.removeEndpoint(appId, params.id, by)),
    }),
  ];
};

const LogoPath = Type.Object({ digest: Type.String() }, { additionalProperties: false });

/** Needs of the route of logos. */
export interface LogoRoutesDeps {
  readonly findLogo: (digest: string) => Promise<Logo | null>;
}

/**
 * Logos by the digest of their bytes, so an address never changes its content. The service encodes each picture, so its type is certain;
 * pages of shops may display it.
 */
export const logoRoutes = (deps: Pick<LogoRoutesDeps, 'findLogo'>): readonly AnyRoute[] => [
  route({
    method: 'get',
    path: '/logos/{digest}',
    auth: 'none',
    anyOrigin: true,
    params: LogoPath,
    answers: { 200: { description: 'The picture' } },
    errors: ['notFound'],
    doc: null,
    async handle({ params: { digest } }) {
      const logo = /^[0-9a-f]{64}$/.test(digest) ? await deps.findLogo(digest) : null;
      if (!logo) return refuse('notFound', 'no app has this logo');
      return {
        status: 200,
        body: logo.bytes,
        type: logo.type,
        headers: {
          'Cache-Control': 'public, max-age=31536000, immutable',
          'Cross-Origin-Resource-Policy': 'cross-origin',
        },
      };
    },
  }),
];
