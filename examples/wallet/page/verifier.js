// What the page verifies before a wallet is asked for a signature: package verify, as a program
// in WebAssembly, with the wallet's own nodes. It is loaded when it is needed first.
import { call } from './api.js';

let loaded = null;

// asksFor reports whether a swap's signatures can be verified: package verify knows swaps from
// smart chains to Bitcoin and Lightning.
export const asksFor = (s) => s.currentAction?.type === 'SignSmartChainTransaction' && !['BITCOIN', 'LIGHTNING'].includes(s.quote.inputAmount.chain);

// check judges what a swap asks its user to sign: { how: 'good', words, action } with what may be
// signed, 'unknown' for what package verify does not know, or 'refused'. Request is what was asked
// for in this browser.
export async function check(s, { request, key } = {}) {
  const unknown = { how: 'unknown', words: 'What you sign here is the service’s word: swaps of this kind cannot be verified in the page yet.', action: s.currentAction };
  if (!asksFor(s)) return unknown;
  if (!request) return { how: 'refused', words: 'This swap was not asked for in this browser, so the page does not know what it should pay. Sign where it was asked for.' };
  try {
    const verifier = await (loaded ??= load().catch((e) => { loaded = null; throw e; }));
    const judged = await verifier.verify(request, s, s.currentAction, { swapKey: key });
    if (judged.currentAction) return { how: 'good', words: judged.currentAction.description, action: judged.currentAction };
    if (judged.actionError?.code === 'unsupported') return unknown;
    return { how: 'refused', words: judged.actionError?.error ?? 'There is nothing that should be signed now.' };
  } catch (e) {
    return e.code === 'unsupported' ? unknown : { how: 'refused', words: e.message };
  }
}

async function load() {
  let site = await call('site');
  while (site.verifier === 'preparing') {
    await new Promise((next) => setTimeout(next, 500));
    site = await call('site');
  }
  if (site.verifier !== 'ready') throw new Error(`Nothing can be verified: ${site.verifier}`);
  const at = (path) => new URL(path, new URL('.', location.href.split('#')[0].split('?')[0])).href;
  const { load: start } = await import(at('verify/index.js'));
  const ahead = site.now - Date.now(); // the local network has a clock of its own
  const chains = Object.fromEntries(Object.entries(site.wallet.chains).map(([id, c]) => [id, { ...c, rpc: [at(`nodes/${id}/`)] }]));
  return start({
    service: at('api'), network: site.wallet.network, chains, bitcoin: [at('nodes/BITCOIN/')],
    prices: async (token) => (await call('rates')).microSats[token] ?? null,
    now: () => Date.now() + ahead,
    store: { get: (name) => localStorage.getItem(`verify ${name}`), set: (name, value) => localStorage.setItem(`verify ${name}`, value) },
  });
}
