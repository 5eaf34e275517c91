/** A stranger registers an app; somebody who has signed in takes up what waits for its proof, or throws it away. */
import Type, { type Static } from 'typebox';
import type { ChainId } from '../../domain/chains.ts';
import { isRefusal, type Refusal, refuse } from '../../domain/decider.ts';
import type { RegistrationRequest } from '../../src/accounts/accounts.ts';
import type { HttpDeps } from '../../src/api/deps.ts';
import { AppId, ChainId as ChainIdText, oneOf } from '../../src/api/schemas/base.ts';
import { emptyForm, type FormState } from '../parts/form.ts';
import { paths } from '../parts/paths.ts';
import { challengeCookie } from './challenge.ts';
import { entry, fields, noFields } from './fields.ts';
import type { Frames } from './frames.ts';
import { type AnyForm, type AnyPage, type Audience, form, page, type Visit } from './page.ts';
import { askerOf } from './pages_signIn.ts';
import { registerPage } from './register.ts';
import { registeredPage } from './registered.ts';

type Deps = Pick<HttpDeps, 'accounts' | 'site'>;

const Registration = fields({
  email: entry(254),
  displayName: entry(100),
  kind: oneOf(['merchant', 'wallet']),
  slug: Type.Optional(entry(48)),
  settlementChainId: Type.Optional(ChainIdText),
  settlementTokenSymbol: Type.Optional(entry(8)),
  settlementAddress: Type.Optional(entry(128)),
  settlementMemo: Type.Optional(entry(128)),
  webhookUrl: Type.Optional(entry(2_000)),
});

const pointers = {
  '/settlement/chainId': 'settlementChainId',
  '/settlement/tokenSymbol': 'settlementTokenSymbol',
  '/settlement/receiverAddress': 'settlementAddress',
  '/settlement/receiverMemo': 'settlementMemo',
};

export function registerPages(deps: Deps, frames: Frames): readonly (AnyPage | AnyForm)[] {
  const { accounts, site } = deps;
  const shown = async (visit: Visit<Audience>, state: FormState) => ({
    page: registerPage({ ...(await frames.outer(visit)), form: state, chains: site.chains }),
  });
  return [
    page({ path: paths.register, audience: 'anyone', show: (visit) => shown(visit, emptyForm) }),
    form({
      path: paths.register,
      audience: 'anyone',
      fields: Registration,
      pointers,
      async act(visit) {
        const request = requestOf(visit.fields);
        if (isRefusal(request)) return request;
        const registering = await accounts.register(request, askerOf(visit));
        if (isRefusal(registering)) return registering;
        const { appId, webhookUrl, webhookSecret, webhookSecretFingerprint, challenge } = registering;
        const { email } = visit.fields;
        // The secret is in this answer alone: a page that is led to could be read again.
        const shownOnce = { appId, email, webhookUrl, webhookSecret, webhookSecretFingerprint };
        const proof = { form: emptyForm, mailboxUrl: site.mailboxUrl };
        return {
          page: registeredPage({ ...(await frames.outer(visit)), ...shownOnce, proof }),
          set: [challengeCookie({ challenge, email, purpose: 'register', next: null })],
        };
      },
      again: shown,
    }),
    ...pendingForms(deps, frames),
  ];
}

/** A wallet may be left out as a whole. */
function requestOf(sent: Static<typeof Registration>): RegistrationRequest | Refusal {
  const { email, displayName, kind, slug = null, webhookUrl = null } = sent;
  const { settlementChainId, settlementTokenSymbol = 'USDC', settlementAddress, settlementMemo = null } = sent;
  const request = { email, displayName, kind, slug, webhookUrl };
  if (settlementChainId === undefined && settlementAddress === undefined) return { ...request, settlement: null };
  if (settlementChainId === undefined)
    return refuse('invalidRequest', 'is required for an address', '/settlementChainId');
  if (settlementAddress === undefined) return refuse('invalidRequest', 'is required on a chain', '/settlementAddress');
  const settlement = {
    chainId: Number(settlementChainId) as ChainId,
    tokenSymbol: settlementTokenSymbol,
    receiverAddress: settlementAddress,
    receiverMemo: settlementMemo,
  };
  return { ...request, settlement };
}

const PendingPath = Type.Object({ appId: AppId });
const toChoice = async () => ({ to: paths.home });

function pendingForms({ accounts }: Deps, frames: Frames): readonly AnyForm[] {
  return [
    form({
      path: '/dashboard/register/{appId}/confirm',
      audience: 'person',
      params: PendingPath,
      fields: noFields,
      async act(visit) {
        const { developerId } = visit.visitor;
        const confirmed = await accounts.confirmRegistration(developerId, visit.params.appId, visit.by);
        if (isRefusal(confirmed)) return confirmed;
        const outer = await frames.outer(visit);
        return { page: registeredPage({ ...outer, email: outer.person ?? '', ...confirmed, proof: null }) };
      },
      again: toChoice,
    }),
    form({
      path: '/dashboard/register/{appId}/discard',
      audience: 'person',
      params: PendingPath,
      fields: noFields,
      async act({ visitor, params }) {
        await accounts.discardRegistration(visitor.developerId, params.appId);
        return { to: paths.home, told: 'registrationDiscarded' };
      },
      again: toChoice,
    }),
  ];
}
