// What the page verifies before its user pays or signs: package verify, as a program in
// WebAssembly, with the wallet's own nodes. It is loaded when it is needed first.
import { call } from './api.js';
import { isAway, lost } from './online.js';
import { linkFailed } from './words.js';

let loaded = null;

// own reports whether the page itself must ask for the quote: of a swap from Lightning, whose
// secret is made here, or of one to an LNURL link or a Lightning address, whose invoice is fetched here.
const own = (request) => request.srcToken === 'LIGHTNING-BTC' || request.dstToken === 'LIGHTNING-BTC' && !/^(lightning:)?ln(bc|tb)/i.test(request.dstAddress);

// create asks for a quote, once what verifies is loaded: some quotes last a minute. One that the page
// itself must ask for is verified at once; the others are verified with what is to be signed or paid first.
// says is told what is done.
export async function create(request, says) {
  if (!loaded) says('Preparing to verify…');
  if (!own(request)) {
    await ready().catch(() => {}); // then nothing is verified, nor signed or paid
    says('Asking the providers…');
    return call('api/createSwap', {}, request);
  }
  try {
    const verifier = await ready();
    says('Asking the providers…');
    return await verifier.call('createSwap', request);
  } catch (e) {
    if (isAway()) throw Object.assign(e, { code: 'away' });
    if (e.code === 'upstream' && e.field && !linkFailed(e.message)) throw Object.assign(new Error('Refused: the quote is not what you asked for, so it cannot be paid here. Nothing was paid.'), { found: e.message });
    throw Object.assign(e, { error: e.message });
  }
}

// mismatch is what a user is told of what cannot be verified; found says it to those who know the operations.
const mismatch = (found) => ({ how: 'refused', words: 'What the service asks for does not match your swap, or your own nodes cannot confirm it. There is nothing to pay or sign here; the page looks again by itself.', found });

// check judges what a swap asks its user to sign or pay: { how: 'good', words, action } with what
// may be signed or paid, 'waits', 'told', 'refused', or 'follow'. Request is what was asked for in this browser; wallet
// is { bitcoinAddress, bitcoinPublicKey } of the wallet that pays bitcoin. It tells the service the secret of a swap from Lightning once it may hear it.
export async function check(s, own, wallet = {}) {
  const { request, key } = own ?? {};
  if (!request) return { how: 'follow', words: 'This swap was asked for in another browser, and is paid and signed there. Here it can be followed.' };
  try {
    const { currentAction: action, actionError: fault } = await (await ready()).verify(request, s, s.currentAction, { swapKey: key, ...wallet });
    if (fault) return mismatch(fault.error);
    if (action && action.type !== 'Wait') return { how: 'good', words: action.description, action };
    if (action?.name === 'Automatic settlement' && s.requiresSecretReveal) return { how: 'told', words: action.description };
    if (!s.currentAction || [action?.type, 'Wait'].includes(s.currentAction.type)) return { how: 'waits', words: action?.description ?? '' };
    return { how: 'refused', words: 'There is nothing that should be signed or paid now.' };
  } catch (e) {
    return mismatch(e.message);
  }
}

// submit sends what was signed of a verified action: through the wallet's own nodes what needs
// no service, and through the service the rest.
export const submit = async (swapId, own, signedTxs) => (await ready()).call('submitTransaction', { swapId, swapKey: own?.key, signedTxs });

// settle has the swap's LNURL link pay the verified invoice.
export const settle = async (swapId, own) => (await ready()).call('settleWithLnurl', { swapId, swapKey: own?.key });

// prepared reports whether the verifier is being loaded, or was.
export const prepared = () => loaded !== null;

// ready is the verifier, which is loaded once.
const ready = () => (loaded ??= load().catch((e) => { loaded = null; throw e; }));

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
  const local = site.network === 'local';
  const reach = (url) => (local && !url.startsWith(at('')) ? at(`links?url=${encodeURIComponent(url)}`) : url); // the services behind its links allow no page to ask them
  return start({
    service: at('api'), network: site.wallet.network, chains, lnurl: { allowLocal: local }, bitcoin: [at('nodes/BITCOIN/')],
    prices: async (token) => (await call('rates')).microSats[token] ?? null,
    now: () => Date.now() + ahead,
    store: { get: (name) => localStorage.getItem(`verify ${name}`), set: (name, value) => localStorage.setItem(`verify ${name}`, value) },
    fetch: (url, options) => fetch(reach(url), options).catch((e) => { if (!options.signal?.aborted && url.startsWith(at('api'))) lost(); throw e; }),
  });
}
