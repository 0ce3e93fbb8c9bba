// Whose money is swapped: the local network's user, and a wallet of the browser for EVM chains.
import { call } from './api.js';
import { connect as connectBrowser } from './browser-wallet.js';

let user = { addresses: {} }, browser = null, chains = {};

export async function load(site) {
  chains = site.chains;
  user = await call('local/user');
}

// evm are the chains that a browser wallet can be used on.
export const evm = (chain) => chain in chains;
export const address = (chain) => evm(chain) && browser ? browser.address : user.addresses[chain];
export const shop = () => user.shop;

// bitcoin is the wallet whose coins pay on Bitcoin, as getSwapStatus wants it.
export const bitcoin = () => ({ bitcoinAddress: user.addresses.BITCOIN, bitcoinPublicKey: user.bitcoinPublicKey });
export const own = (a) => Object.values(user.addresses).includes(a) || browser?.address === a;

// signers are the addresses whose swaps are this user's.
export const signers = () => [...new Set([browser?.address, ...Object.entries(user.addresses).filter(([c]) => c !== 'BITCOIN').map(([, a]) => a)].filter(Boolean))];

export async function connect(changed) {
  browser = await connectBrowser(chains, (account) => {
    browser = account ? { ...browser, address: account } : null;
    changed();
  });
  return browser.address;
}

// theirs is the browser wallet if it is the one that has to sign.
export const theirs = (signer) => browser && signer?.toLowerCase() === browser.address.toLowerCase() ? browser : null;

// balance is what the user has of a token and what of it can be swapped, null where it is not known.
export async function balance(token) {
  if (token.chainId === 'LIGHTNING') {
    const { rawAmount } = await call('local/balance', { token: token.id });
    return BigInt(rawAmount);
  }
  const { balance: b } = await call('api/getSpendableBalance', { wallet: address(token.chainId), token: token.id });
  return BigInt(b.rawAmount);
}
