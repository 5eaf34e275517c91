import sha3 from 'js-sha3';

/** Keccak-256. For what every payment needs: viem's implementation gives the same and takes more than twice the time. */
export const keccak = (message: Uint8Array | string): Uint8Array => new Uint8Array(sha3.keccak256.arrayBuffer(message));
