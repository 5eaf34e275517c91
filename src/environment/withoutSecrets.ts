/** The URL of a store for logs and messages: without user and password, and without options, which may hold more of them. */
export const withoutSecrets = (url: string): string => url.replace(/[?#].*$/, '').replace(/^([^:]*:\/\/).*@/, '$1');
