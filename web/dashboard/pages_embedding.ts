/** Which sites may show an app's payment pages in a frame. */
import Type from 'typebox';
import { isRefusal } from '../../domain/decider.ts';
import type { HttpDeps } from '../../src/api/deps.ts';
import { emptyForm, type FormState } from '../parts/form.ts';
import { appPaths } from '../parts/paths.ts';
import { embeddingPage } from './embedding.ts';
import { fields, lines } from './fields.ts';
import type { Frames } from './frames.ts';
import { type AnyForm, type AnyPage, form, page, type Shown, type Visit } from './page.ts';

type Deps = Pick<HttpDeps, 'merchants' | 'getSettings' | 'shown' | 'publicUrl'>;

const path = '/dashboard/apps/{appId}/embedding';

/** The command checks them one by one. */
const Sites = fields({ sites: Type.Optional(lines(4_000)) });

export function embeddingPages(deps: Deps, frames: Frames): readonly (AnyPage | AnyForm)[] {
  const { merchants, getSettings, shown: readable, publicUrl } = deps;
  const shown = async (visit: Visit<'owner'>, state: FormState): Promise<Shown> => {
    const [frame, settings] = await Promise.all([frames.ofApp(visit), getSettings(visit.visitor.appId)]);
    const sites = settings?.embeddingSites ?? [];
    return { page: embeddingPage({ ...frame, sites, publicUrl: publicUrl(), form: state }) };
  };
  return [
    page({ path, audience: 'owner', show: (visit) => shown(visit, emptyForm) }),
    form({
      path,
      audience: 'owner',
      fields: Sites,
      async act({ visitor: { appId }, fields: { sites = '' }, by }) {
        const stated = sites.split(/[\s,]+/).filter((site) => site !== '');
        const changed = await merchants.setEmbeddingSites(appId, stated, by);
        if (isRefusal(changed)) return namingSite(changed, stated);
        await readable(changed);
        return { to: appPaths(appId).embedding, told: 'sitesSaved' };
      },
      again: shown,
    }),
  ];
}

/** The form has one field for all sites: the message says which one it is about. */
function namingSite<R extends { readonly message: string; readonly pointer?: string | undefined }>(
  refusal: R,
  sites: readonly string[],
): R {
  const place = /^\/sites\/(\d+)$/.exec(refusal.pointer ?? '')?.[1];
  const named = place === undefined ? '' : `The site ${sites[Number(place)]?.slice(0, 100)}`;
  return { ...refusal, pointer: '/sites', message: named + refusal.message.replace(/^\/sites(\/\d+)?/, '') };
}
