/** Declarative form of a dashboard page. Its router, checks and error pages follow from it. */
import type { VNode } from 'preact';
import type { Static, TSchema } from 'typebox';
import type { By } from '../../commands/handle.ts';
import type { Refusal } from '../../domain/decider.ts';
import type { OwnApp } from '../../queries/apps.ts';
import type { NoticeReads } from '../../queries/notices.ts';
import { memberName, type TeamMember } from '../../queries/team.ts';
import type { Accounts } from '../../src/accounts/accounts.ts';
import type { Owner, SignedIn } from '../../src/api/auth.ts';
import { logoPath } from '../../src/api/resource.ts';
import type { Answer, Streamed } from '../../src/api/router.ts';
import type { SettingsReads } from '../../src/api/routes/settings.ts';
import type { FormState } from '../parts/field.ts';
import type { AppName, Flash, Frame, Outer, Site } from '../parts/frame.ts';
import type { Notice } from '../parts/messages/flashes.ts';
import { sayText } from '../parts/say.ts';
import type { Cookies, SetCookie } from './cookies.ts';
import type { UploadedFile, UploadLimits } from './forms.ts';

/** anyone: signed in or not. person: signed in. owner: signed in, and the path's {appId} is theirs. */
export type Audience = 'anyone' | 'person' | 'owner';
interface Visitors {
  anyone: SignedIn | null;
  person: SignedIn;
  owner: Owner;
}
export type VisitorOf<A extends Audience> = Visitors[A];

export interface Visit<A extends Audience, P = unknown, Q = unknown> {
  readonly visitor: VisitorOf<A>;
  readonly params: P;
  readonly query: Q;
  readonly cookies: Cookies;
  /** Network address for strangers' limits. */
  readonly address: string;
  /** Languages of the browser's Accept-Language header. */
  readonly languages: string | null;
  /** The browser's own description, shortened. */
  readonly agent: string | null;
  /** Outcome of the previous request, displayed once. */
  readonly flash: Flash | null;
  /** Aborts when the browser disconnects. */
  readonly gone: AbortSignal;
  readonly by: By;
}

export interface PageResult {
  readonly page: VNode;
  readonly status?: number;
  readonly headers?: Answer['headers'];
  readonly set?: readonly SetCookie[];
}

/** 303: a GET displays the result of a POST, so a reload repeats nothing. */
export interface Leads {
  readonly to: string;
  readonly told?: Notice;
  readonly set?: readonly SetCookie[];
}

export type PageAnswer = PageResult | Leads | Streamed | Answer;

interface Common<A extends Audience, P extends TSchema> {
  /** Same form as a route's: `/dashboard/apps/{appId}/keys`. */
  readonly path: string;
  readonly audience: A;
  readonly params?: P;
}

export interface Page<A extends Audience = Audience, P extends TSchema = TSchema, Q extends TSchema = TSchema>
  extends Common<A, P> {
  readonly query?: Q;
  /** It may stay open for long, so it uses no slot of requests in progress and has its own limit. */
  readonly stays?: boolean;
  show(visit: Visit<A, Static<P>, Static<Q>>): Promise<PageAnswer>;
}

export interface PageForm<A extends Audience = Audience, P extends TSchema = TSchema, F extends TSchema = TSchema>
  extends Common<A, P> {
  /** An object of texts. Empty fields are absent. */
  readonly fields: F;
  /** Without a session it creates a payment: counted like any stranger's. */
  readonly creates?: boolean;
  /** Accepts a file under this name. */
  readonly file?: UploadLimits;
  /** Fields of a command's refusals; `/name` is the field `name` by default. */
  readonly pointers?: Readonly<Record<string, string>>;
  act(visit: Submitted<A, Static<P>, Static<F>>): Promise<PageAnswer | Refusal>;
  /** Renders the form's page again, with the entered values and their errors. */
  again(visit: Visit<A, Static<P>>, state: FormState): Promise<PageResult | Leads>;
}

export interface Submitted<A extends Audience, P, F> extends Visit<A, P> {
  readonly fields: F;
  /** Null for a form without files, and if none was chosen. */
  readonly file: UploadedFile | null;
}

/** Pages and forms without their schemas' types, for tables of pages. */
export type AnyPage = Omit<Page, 'show'> & {
  readonly method: 'get';
  show(visit: Visit<Audience>): Promise<PageAnswer>;
};
export type AnyForm = Omit<PageForm, 'act' | 'again'> & {
  readonly method: 'post';
  act(visit: Submitted<Audience, unknown, unknown>): Promise<PageAnswer | Refusal>;
  again(visit: Visit<Audience>, state: FormState): Promise<PageResult | Leads>;
};

/** Both infer the handler's types from the schemas. The router calls it only with accepted input. */
export const page = <A extends Audience, P extends TSchema, Q extends TSchema>(definition: Page<A, P, Q>): AnyPage =>
  ({ method: 'get', ...definition }) as unknown as AnyPage;

export const form = <A extends Audience, P extends TSchema, F extends TSchema>(
  definition: PageForm<A, P, F>,
): AnyForm => ({ method: 'post', ...definition }) as unknown as AnyForm;

/**
 * Returns the actor of an event for a member of the app's team. Reveals no e-mail of a person outside the team.
 * @param cause such as `developer:<id>`, `operator:<name>`, `key:<id>`
 */
export function whoDid(
  cause: string,
  { developerId }: SignedIn,
  { person }: Pick<Frame, 'person'>,
  team: readonly TeamMember[],
): string {
  const [kind, who = ''] = cause.split(':', 2);
  if (kind === 'developer')
    return who === developerId ? (person ?? sayText('byYou')) : memberName(team, who, sayText('byFormerMember'));
  if (kind === 'operator') return sayText('byOperator');
  if (kind === 'key') return sayText('byKey');
  return sayText('byService');
}

// Frame of a page: signed-in person, app, and last outcome.

export interface Frames {
  /** Frame of a page without an app. */
  outer(visit: Visit<Audience>): Promise<Outer>;
  /** Frame of a page of the owner's app. */
  ofApp(visit: Visit<'owner'>): Promise<Frame>;
  /** A person's apps, by name. */
  appsOf(developerId: string): Promise<readonly AppName[]>;
}

/** Dependencies of a page's frame. */
export interface FramesDeps extends Pick<SettingsReads, 'listApps'> {
  readonly accounts: Accounts;
  readonly notices: Pick<NoticeReads, 'countUnread'>;
  readonly site: Site;
}

export function createFrames({ accounts, listApps, notices, site }: FramesDeps): Frames {
  const frames: Frames = {
    async outer({ visitor, flash }) {
      const person = visitor && (await accounts.person(visitor.developerId));
      return { mode: site.mode, person: person?.email ?? null, flash };
    },
    async ofApp(visit) {
      const { appId, developerId } = visit.visitor;
      const [outer, own, unread] = await Promise.all([
        frames.outer(visit),
        listApps(developerId),
        notices.countUnread(appId, developerId),
      ]);
      const app = own.find((each) => each.appId === appId);
      const logoUrl = app?.logo ? logoPath(app.logo) : null;
      return { ...outer, app: nameOf(app ?? { appId, name: null }), apps: own.map(nameOf), logoUrl, unread };
    },
    appsOf: async (developerId) => (await listApps(developerId)).map(nameOf),
  };
  return frames;
}

const nameOf = ({ appId, name }: Pick<OwnApp, 'appId' | 'name'>): AppName => ({ appId, name: name ?? appId });
