// Whose money is swapped: the local network's user, and a wallet of the browser for EVM chains.
import { call } from './api.js';
import { connect as connectBrowser, same, switchTo } from './browser-wallet.js';
import { networkName } from './words.js';

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

// connect connects the browser's wallet; changed is told when its account is another one, and
// moved when its chain is.
export async function connect(changed, moved) {
  browser = await connectBrowser(chains, (account) => {
    browser = account ? { ...browser, address: account } : null;
    changed();
  }, (chainId) => {
    browser &&= { ...browser, chainId };
    moved();
  });
  return browser.address;
}

// theirs is the browser wallet if it is the one that has to sign.
export const theirs = (signer) => browser && signer?.toLowerCase() === browser.address.toLowerCase() ? browser : null;

// elsewhere says, of an action that the browser wallet has to sign while it is on another chain than
// the action's, which one: { on: its name, or '' if that is not known, number, to: the name of the action's }.
// Else it is null: the test wallet has no chain of its own.
export function elsewhere(a) {
  const wallet = a?.type === 'SignSmartChainTransaction' ? theirs(a.requiredSigner) : null, needed = wallet && chains[a.chain];
  if (!needed || same(wallet.chainId, needed.chainId)) return null;
  return { on: networkName(wallet.chainId, chains), number: BigInt(wallet.chainId).toString(), to: needed.chainName };
}

// bring asks the browser wallet to change to a chain.
export async function bring(chain) {
  const chainId = await switchTo(browser, chains[chain].chainId);
  browser &&= { ...browser, chainId };
}

// found notes on which chain the browser wallet was found.
export function found(chainId) { browser &&= { ...browser, chainId }; }

// balance is what the user has of a token and what of it can be swapped, null where it is not known.
export async function balance(token) {
  if (token.chainId === 'LIGHTNING') {
    const { rawAmount } = await call('local/balance', { token: token.id });
    return BigInt(rawAmount);
  }
  const { balance: b } = await call('api/getSpendableBalance', { wallet: address(token.chainId), token: token.id });
  return BigInt(b.rawAmount);
}
