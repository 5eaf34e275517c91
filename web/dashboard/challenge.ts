/** What a browser keeps between asking for a code and entering it: the challenge that the code belongs to, and what for. */
import Type from 'typebox';
import { compileBody } from '../../src/api/input.ts';
import type { Cookies, SetCookie } from './cookies.ts';

export interface Challenged {
  readonly challenge: string;
  /** As it was typed; shown to this browser alone. */
  readonly email: string;
  readonly purpose: 'signIn' | 'register';
  /** Where to go afterwards. */
  readonly next: string | null;
}

/** As long as a code is good for. */
const life_s = 600;

const check = compileBody(
  Type.Object({
    challenge: Type.String(),
    email: Type.String(),
    purpose: Type.Union([Type.Literal('signIn'), Type.Literal('register')]),
    next: Type.Union([Type.String(), Type.Null()]),
  }),
);

export const challengeCookie = (challenged: Challenged): SetCookie => ({
  name: 'challenge',
  value: Buffer.from(JSON.stringify(challenged)).toString('base64url'),
  life_s,
});

/** Null without one, and for what is none of ours. */
export function challengeIn({ challenge }: Cookies): Challenged | null {
  if (challenge === undefined) return null;
  try {
    const read: unknown = JSON.parse(Buffer.from(challenge, 'base64url').toString());
    check(read);
    return read as Challenged;
  } catch {
    return null;
  }
}
