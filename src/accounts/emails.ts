/** What is written to people. Nothing that a stranger could word is in it: somebody else's text under our name would be believed. */
import { minute_ms } from '../../domain/time.ts';

export interface Letter {
  readonly subject: string;
  readonly text: string;
}

export const codeLife_ms = 10 * minute_ms;

const letter = (subject: string, ...paragraphs: readonly string[]): Letter => ({
  subject,
  text: `${paragraphs.join('\n\n')}\n`,
});

const minutes = codeLife_ms / minute_ms;
const where = (address: string) => `It was asked for from the network address ${address}.`;

export const signInLetter = (code: string, address: string): Letter =>
  letter(
    'Your sign-in code',
    `Your code is ${code}`,
    `Enter it where you asked for it, within ${minutes} minutes. Nobody else needs it: do not pass it on, whoever asks.`,
    `${where(address)} If that was not you, there is nothing to do: without the code nobody gets in.`,
  );

/** The app's id is left out: whoever registers chooses it, and could write a message in it. */
export const registrationLetter = (code: string, address: string): Letter =>
  letter(
    'Confirm your app',
    `Your code is ${code}`,
    `It registers an app with this e-mail address as its owner. Enter it where you registered, within ${minutes} minutes. Nobody else needs it: do not pass it on, whoever asks.`,
    `${where(address)} If that was not you, there is nothing to do: without the code nothing is registered.`,
  );

export const confirmLetter = (code: string, words: string, address: string): Letter =>
  letter(
    'Confirm a refund',
    `Your code is ${code}`,
    words,
    `Enter it where you asked for it, within ${minutes} minutes. Nobody else needs it: do not pass it on, whoever asks.`,
    `${where(address)} If that was not you, somebody else has your session: sign in, end all sessions, and look through the audit trail of your apps. Without the code nothing is sent.`,
  );

export const newBrowserLetter = (address: string): Letter =>
  letter(
    'New sign-in',
    `Somebody has signed in to your account from a new browser, from the network address ${address}.`,
    'If that was not you, sign in, end all sessions, and look through the audit trail of your apps. Whoever did it can read your mail.',
  );

export const invitationLetter = (url: string | null): Letter =>
  letter(
    'You may register',
    `You have been invited to take payments with us: register with this e-mail address${url === null ? '.' : ` at ${url}`}`,
    'If you did not expect this, there is nothing to do.',
  );
