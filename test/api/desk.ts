/** The dashboard as browsers request it, without a browser: pages by fetch, a jar for cookies, accounts in memory. */
import { randomUUID } from 'node:crypto';
import { refuse } from '../../domain/decider.ts';
import { plus } from '../../domain/time.ts';
import type { Accounts, SignedIn } from '../../src/accounts/accounts.ts';
import { easyAccounts } from './accounts.ts';
import type { World } from './world.ts';

/** Code that is mailed to everybody. */
export const goodCode = '314159';
const hour_ms = 3_600_000;

/** People by e-mail. The right code signs a person in. */
export function memoryAccounts(now: World['clock']['now']): Accounts {
  const people = new Map<string, string>();
  const asked = new Map<string, string>();
  const sessions = new Map<string, SignedIn>();
  const idOf = (email: string) => {
    const id = people.get(email) ?? randomUUID();
    people.set(email, id);
    return id;
  };
  const ask: Accounts['ask'] = async (email) => {
    if (!email.includes('@')) return refuse('invalidRequest', 'must be an e-mail address', '/email');
    const challenge = randomUUID();
    asked.set(challenge, email);
    return { challenge, expiresAt: plus(now(), hour_ms) };
  };
  return {
    ...easyAccounts,
    ask,
    begin: ask,
    async prove(challenge, code) {
      const email = asked.get(challenge);
      if (email === undefined || code !== goodCode) return refuse('codeWrong', 'is another one: 4 tries are left');
      const token = `token.${randomUUID()}.x`;
      const developerId = idOf(email);
      sessions.set(token, { developerId, sessionId: randomUUID() });
      return { token, expiresAt: plus(now(), 12 * hour_ms), developerId, registered: null, known: 'known-browser' };
    },
    findSession: async (token) => sessions.get(token) ?? null,
    async person(developerId) {
      const email = [...people].find(([, id]) => id === developerId)?.[0];
      return email === undefined ? null : { developerId, email, provedAt: now() };
    },
    async endSession(developerId, sessionId) {
      const token = [...sessions].find(
        ([, own]) => own.developerId === developerId && own.sessionId === sessionId,
      )?.[0];
      return token !== undefined && sessions.delete(token);
    },
  };
}

export interface PageAnswered {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly to: string | null;
}

/** Cookies and request headers of a browser. */
export class Jar {
  readonly cookies = new Map<string, string>();
  readonly #url: string;
  readonly #request: (url: string, init: RequestInit) => Promise<Response>;

  /** @param request sends a request; default: once */
  constructor(url: string, request: (url: string, init: RequestInit) => Promise<Response> = fetch) {
    this.#url = url;
    this.#request = request;
  }

  get = (path: string, headers: Record<string, string> = {}): Promise<PageAnswered> =>
    this.ask('GET', path, { headers });

  /** Posts a form like our own pages. */
  post = (
    path: string,
    fields: Record<string, string> = {},
    headers: Record<string, string> = {},
  ): Promise<PageAnswered> =>
    this.ask('POST', path, { body: new URLSearchParams(fields), headers: { origin: this.#url, ...headers } });

  async ask(
    method: string,
    path: string,
    { headers = {}, ...rest }: RequestInit & { headers?: Record<string, string> },
  ) {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await this.#request(`${this.#url}${path}`, {
      method,
      redirect: 'manual',
      headers: { ...(cookie && { cookie }), ...headers },
      ...rest,
    });
    for (const text of answer.headers.getSetCookie()) {
      const [name = '', value = ''] = text.split(';', 1)[0]?.split('=', 2) ?? [];
      if (value === '') this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    const { status, headers: got } = answer;
    return { status, headers: got, text: await answer.text(), to: got.get('location') };
  }

  async signIn(email: string): Promise<PageAnswered> {
    await this.post('/dashboard/sign-in', { email });
    return this.post('/dashboard/code', { code: goodCode });
  }
}
