/** What happens with money that is not what was agreed, and the fees that the operator has agreed with the app. */
import Type from 'typebox';
import { isRefusal } from '../../domain/decider.ts';
import { holdAll, overVerdicts, type ShownPolicy, shownPolicy, verdicts } from '../../domain/payment/amountPolicy.ts';
import type { HttpDeps } from '../../src/api/deps.ts';
import { oneOf } from '../../src/api/schemas/base.ts';
import { emptyForm, type FormState } from '../parts/form.ts';
import { appPaths } from '../parts/paths.ts';
import { entry, fields } from './fields.ts';
import type { Frames } from './frames.ts';
import { type AnyForm, type AnyPage, form, page, type Shown, type Visit } from './page.ts';
import { policyForm, policyPage } from './policy.ts';

type Deps = Pick<HttpDeps, 'merchants' | 'getSettings' | 'shown'>;

const path = '/dashboard/apps/{appId}/policy';

const whole = Type.Unsafe<string>({ type: 'string', pattern: '^[0-9]{1,5}$', description: 'a whole number' });

const Fields = fields({
  basisPoints: whole,
  most: entry(16),
  under: oneOf(verdicts),
  over: oneOf(overVerdicts),
  late: oneOf(verdicts),
  lateWithinMinutes: whole,
  wrongToken: oneOf(verdicts),
  wrongChain: oneOf(verdicts),
});

/** The tolerance has no fields of its own in the form. */
const pointers = { '/tolerance': 'basisPoints', '/tolerance/basisPoints': 'basisPoints', '/tolerance/most': 'most' };

export function policyPages(deps: Deps, frames: Frames): readonly (AnyPage | AnyForm)[] {
  const { merchants, getSettings, shown: readable } = deps;
  const shown = async (visit: Visit<'owner'>, state: FormState): Promise<Shown> => {
    const [frame, settings] = await Promise.all([frames.ofApp(visit), getSettings(visit.visitor.appId)]);
    const inForce: ShownPolicy = shownPolicy(settings?.policy ?? holdAll);
    const form = state === emptyForm ? policyForm(inForce) : state;
    return { page: policyPage({ ...frame, fees: settings?.fees ?? [], form }) };
  };
  return [
    page({ path, audience: 'owner', show: (visit) => shown(visit, emptyForm) }),
    form({
      path,
      audience: 'owner',
      fields: Fields,
      pointers,
      async act({ visitor: { appId }, fields: stated, by }) {
        const { basisPoints, most, lateWithinMinutes, ...said } = stated;
        const tolerance = { basisPoints: Number(basisPoints), most };
        const policy = { ...said, tolerance, lateWithinMinutes: Number(lateWithinMinutes) };
        const changed = await merchants.setPolicy(appId, policy, by);
        if (isRefusal(changed)) return changed;
        await readable(changed);
        return { to: appPaths(appId).policy, told: 'policySaved' };
      },
      again: shown,
    }),
  ];
}
