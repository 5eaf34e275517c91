/** Settlement wallet of an app. */

import Type from 'typebox';
import type { ManageMerchant } from '../../commands/manageMerchant.ts';
import type { Clock } from '../../commands/ports.ts';
import type { ChainId as KnownChainId } from '../../domain/chains.ts';
import { isRefusal } from '../../domain/decider.ts';
import type { InForce } from '../../src/api/issueKey.ts';
import type { SettingsReads } from '../../src/api/routes/settings.ts';
import { ChainId, TokenSymbol } from '../../src/api/schemas/base.ts';
import { emptyForm, type FormState } from '../parts/field.ts';
import type { Site } from '../parts/frame.ts';
import { appPaths } from '../parts/paths.ts';
import { confirmPage } from './confirm.ts';
import { entry, fields, noFields } from './forms.ts';
import { type AnyForm, type AnyPage, type Frames, form, type PageResult, page, type Visit } from './page.ts';
import { noSuchPage } from './router.ts';
import { settlementPage } from './settlementForm.ts';

/** Needs of the pages of the settlement wallet. */
export interface SettlementPagesDeps extends Pick<SettingsReads, 'getSettings'>, InForce {
  readonly merchants: Pick<ManageMerchant, 'requestSettlement' | 'cancelSettlement'>;
  readonly site: Site;
  readonly clock: Pick<Clock, 'now'>;
}

const path = '/dashboard/apps/{appId}/settlement';

const Wallet = fields({
  chainId: ChainId,
  tokenSymbol: TokenSymbol,
  receiverAddress: entry(128),
  receiverMemo: Type.Optional(entry(128)),
});

export function settlementPages(deps: SettlementPagesDeps, frames: Frames): readonly (AnyPage | AnyForm)[] {
  const { merchants, getSettings, shown: readable, site, clock } = deps;
  const shown = async (visit: Visit<'owner'>, state: FormState): Promise<PageResult> => {
    const [frame, settings] = await Promise.all([frames.ofApp(visit), getSettings(visit.visitor.appId)]);
    const pending = settings?.settlementChange ?? null;
    const model = {
      current: settings?.settlement ?? null,
      pending: pending && { ...pending, requestedAt: null },
      cooldown_hours: site.settlementCoolDown_hours,
      form: state,
      chains: site.chains,
      now: clock.now(),
    };
    return { page: settlementPage({ ...frame, ...model }) };
  };
  return [
    page({ path, audience: 'owner', show: (visit) => shown(visit, emptyForm) }),
    form({
      path,
      audience: 'owner',
      fields: Wallet,
      async act({ visitor: { appId }, fields: { chainId, ...wallet }, by }) {
        const asked = { ...wallet, chainId: Number(chainId) as KnownChainId };
        const requested = await merchants.requestSettlement(appId, asked, by);
        if (isRefusal(requested)) return requested;
        await readable(requested);
        const told = requested.pending ? 'settlementRequested' : 'settlementSet';
        return { to: appPaths(appId).settlement, told };
      },
      again: shown,
    }),
    page({
      path: `${path}/cancel`,
      audience: 'owner',
      async show(visit) {
        const change = (await getSettings(visit.visitor.appId))?.settlementChange;
        if (!change) throw noSuchPage();
        const { wallet, effectiveAt } = change;
        const danger = { kind: 'cancelSettlement', wallet, effectiveAt } as const;
        return { page: confirmPage({ ...(await frames.ofApp(visit)), danger }) };
      },
    }),
    form({
      path: `${path}/cancel`,
      audience: 'owner',
      fields: noFields,
      async act({ visitor: { appId }, by }) {
        const cancelled = await merchants.cancelSettlement(appId, by);
        if (isRefusal(cancelled)) return cancelled;
        await readable(cancelled);
        return { to: appPaths(appId).settlement, told: 'settlementCancelled' };
      },
      again: shown,
    }),
  ];
}
