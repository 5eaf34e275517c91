/** What payers see of an app. */
import Type from 'typebox';
import { isRefusal, refuse } from '../../domain/decider.ts';
import type { HttpDeps } from '../../src/api/deps.ts';
import { pictureMax_bytes } from '../../src/images/accepted.ts';
import type { FormState } from '../parts/form.ts';
import { appPaths } from '../parts/paths.ts';
import { brandingPage } from './branding.ts';
import { entry, fields, noFields } from './fields.ts';
import type { Frames } from './frames.ts';
import { type AnyForm, type AnyPage, form, page, type Shown, type Visit } from './page.ts';

type Deps = Pick<HttpDeps, 'merchants' | 'getSettings' | 'shown'>;

const path = '/dashboard/apps/{appId}/branding';
const noErrors = {};

/** The command checks what is in them. */
const Profile = fields({
  name: Type.Optional(entry(200)),
  supportContact: Type.Optional(entry(500)),
  returnUrlTemplate: Type.Optional(entry(2_048)),
  colour: Type.Optional(entry(32)),
});
const noProfile = { name: null, supportContact: null, returnUrlTemplate: null, colour: null };

export function brandingPages(deps: Deps, frames: Frames): readonly (AnyPage | AnyForm)[] {
  const { merchants, getSettings, shown: readable } = deps;
  const shown = async (visit: Visit<'owner'>, form: FormState): Promise<Shown> => ({
    page: brandingPage({ ...(await frames.ofApp(visit)), form }),
  });
  const asSaved = async (visit: Visit<'owner'>, errors: FormState['errors']): Promise<Shown> => {
    const { logo: _, ...profile } = (await getSettings(visit.visitor.appId))?.profile ?? { logo: null };
    const saved = Object.entries(profile).filter((pair): pair is [string, string] => pair[1] !== null);
    return shown(visit, { values: Object.fromEntries(saved), errors });
  };
  return [
    page({ path, audience: 'owner', show: (visit) => asSaved(visit, noErrors) }),
    form({
      path,
      audience: 'owner',
      fields: Profile,
      async act({ visitor: { appId }, fields: sent, by }) {
        // A field that was emptied is unset.
        const changed = await merchants.setProfile(appId, { ...noProfile, ...sent }, by);
        if (isRefusal(changed)) return changed;
        await readable(changed);
        return { to: appPaths(appId).branding, told: 'profileSaved' };
      },
      again: shown,
    }),
    form({
      path: `${path}/logo`,
      audience: 'owner',
      fields: noFields,
      file: { name: 'logo', max_bytes: pictureMax_bytes },
      async act({ visitor: { appId }, file, by }) {
        if (!file) return refuse('invalidRequest', 'is required: choose a picture', '/logo');
        const changed = await merchants.setLogo(appId, file.content, by);
        if (isRefusal(changed)) return { ...changed, pointer: '/logo' };
        await readable(changed);
        return { to: appPaths(appId).branding, told: 'logoSaved' };
      },
      again: (visit, { errors }) => asSaved(visit, errors),
    }),
    form({
      path: `${path}/logo/remove`,
      audience: 'owner',
      fields: noFields,
      async act({ visitor: { appId }, by }) {
        const changed = await merchants.setLogo(appId, null, by);
        if (isRefusal(changed)) return changed;
        await readable(changed);
        return { to: appPaths(appId).branding, told: 'logoRemoved' };
      },
      again: (visit, { errors }) => asSaved(visit, errors),
    }),
  ];
}
