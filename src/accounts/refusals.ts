import { type Refusal, refuse } from '../../domain/decider.ts';

export const badEmail = (): Refusal => refuse('invalidRequest', 'email must be an e-mail address', '/email');

export const noMail = (): Refusal =>
  refuse('forbidden', 'this installation sends no mail: its operator has to set SMTP_URL');

export const registrationClosed = (): Refusal =>
  refuse('registrationClosed', 'nobody can register here: ask the operator for an invitation');

export const codeWrong = (triesLeft: number): Refusal =>
  refuse('codeWrong', `the code is another one: ${triesLeft} more ${triesLeft === 1 ? 'try' : 'tries'}`, '/code');

export const codeExpired = (): Refusal =>
  refuse('codeExpired', 'the code was used, is too old or was tried too often: ask for a new one', '/challenge');

export const appTaken = (appId: string): Refusal =>
  refuse(
    'appIdTaken',
    `${appId} is taken: choose another slug. If you registered it yourself, sign in to confirm it`,
    '/slug',
  );
