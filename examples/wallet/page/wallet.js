// The page of a wallet: it asks the operations below /api, and follows a swap by its events.
import { connect, send } from './browser-wallet.js';

const $ = (id) => document.getElementById(id);
const tokens = new Map(); // by identifier
let user, browser = null, swap = null, stream = null, last = 'pay', paid = '', looking = false, lost = false;

// The keys of swaps, which the service tells once, stay in the browser: they prove, after a
// reload and from another network, that a swap is this user's. They go into a header alone.
const keys = {
  keep({ swapId, swapKey }) { if (swapKey) try { localStorage.setItem(`swap ${swapId}`, swapKey); } catch { /* a browser that stores nothing goes on by its address */ } },
  of(id) { try { return localStorage.getItem(`swap ${id}`); } catch { return null; } },
};

// call calls an operation: with a body by POST, else by GET. Errors are those of the service.
async function call(path, query, body) {
  const url = new URL(path, location);
  for (const [name, value] of Object.entries(query ?? {})) if (value) url.searchParams.set(name, value);
  const headers = body ? { 'content-type': 'application/json' } : {};
  const key = path.startsWith('api/') && keys.of((body ?? query)?.swapId);
  if (key) headers['swap-key'] = key;
  const answer = await fetch(url, body ? { method: 'POST', headers, body: JSON.stringify(body) } : { headers });
  const value = await answer.json().catch(() => ({}));
  if (!answer.ok) throw Object.assign(new Error(value.error ?? answer.statusText), { code: value.code, field: value.field });
  return value;
}

const chainOf = (id) => id.slice(0, id.indexOf('-'));
const show = (amount) => amount ? `${amount.amount} ${amount.symbol}` : 'none';

// units turns what was typed into base units, without a detour over floating point numbers.
function units(text, decimals) {
  const m = /^(\d+)(?:[.,](\d*))?$/.exec(text.trim());
  if (!m || (m[2] ?? '').length > decimals) throw new Error(`The amount must be a number with at most ${decimals} decimals.`);
  const n = BigInt(m[1] + (m[2] ?? '').padEnd(decimals, '0'));
  if (n <= 0n) throw new Error('The amount must be above 0.');
  return n.toString();
}

function fill(select, list, chosen) {
  select.replaceChildren(...list.map((t) => new Option(`${t.ticker} on ${t.chainId.charAt(0) + t.chainId.slice(1).toLowerCase()}`, t.id)));
  if (list.some((t) => t.id === chosen)) select.value = chosen;
}

// pair offers the tokens that the chosen one can be swapped for, and says the limits.
async function pair(chosen) {
  const list = await call('api/getSwapCounterTokens', { token: $('from').value, side: 'INPUT' });
  fill($('to'), list, chosen ?? $('to').value);
  await terms();
}

async function terms() {
  const src = $('from').value, dst = $('to').value, mine = addressOn(chainOf(dst));
  const lightning = chainOf(dst) === 'LIGHTNING';
  $('recipient').value = mine ?? '';
  $('recipient').placeholder = lightning ? 'invoice, Lightning address or LNURL; empty: an invoice of the local network' : '';
  $('limits').textContent = '';
  if (!dst) return;
  const l = await call('api/getSwapLimits', { srcToken: src, dstToken: dst });
  $('limits').textContent = `${show(l.input.min)} to ${l.input.max ? show(l.input.max) : 'any amount'}`;
}

function addressOn(chain) {
  return chain === 'CITREA' && browser ? browser.address : user.addresses[chain];
}

async function order() {
  const src = tokens.get($('from').value), dst = tokens.get($('to').value), exactIn = last === 'pay';
  const amount = exactIn ? units($('pay').value, src.decimals) : units($('receive').value, dst.decimals);
  let recipient = $('recipient').value.trim();
  if (!recipient && dst.chainId === 'LIGHTNING') {
    if (exactIn) throw new Error('An invoice fixes what is received: type that amount, or a Lightning address as the recipient.');
    recipient = (await call('local/invoice', {}, { sats: Number(amount) })).invoice;
  }
  const lightningOrBitcoin = ['BITCOIN', 'LIGHTNING'].includes(src.chainId);
  const { swapKey, ...made } = await call('api/createSwap', {}, { srcToken: src.id, dstToken: dst.id, amount, amountType: exactIn ? 'EXACT_IN' : 'EXACT_OUT',
    srcAddress: lightningOrBitcoin ? undefined : addressOn(src.chainId), dstAddress: recipient });
  keys.keep({ swapId: made.swapId, swapKey });
  return made;
}

// open shows a swap, follows its events, and remembers it for a reload.
function open(s) {
  swap = s;
  location.hash = s.swapId;
  const q = s.quote;
  $('q-pay').textContent = `${show(q.inputAmount)} (${q.inputAmount.chain})`;
  $('q-receive').textContent = `${show(q.outputAmount)} (${q.outputAmount.chain})`;
  $('q-fee').textContent = show(q.fees.swap);
  $('q-network').textContent = show(q.fees.networkOutput);
  $('q-miners').textContent = show(q.fees.networkInput);
  $('q-to').textContent = q.outputAddress;
  $('quote').hidden = $('progress').hidden = false;
  $('quote-title').focus();
  countdown();
  follow();
}

function follow() {
  stream?.close();
  stream = new EventSource(`api/subscribe?swapId=${swap.swapId}`);
  stream.addEventListener('swap', (e) => render(JSON.parse(e.data)));
}

// look asks for the status while somebody watches: then the service looks at chains and
// providers at once, where it does so every few seconds by itself. What it finds comes by
// the stream, which is opened again if the service refused it while it started.
async function look() {
  if (!swap || swap.isFinished || document.hidden || looking) return;
  looking = true;
  try {
    await call('api/getSwapStatus', { swapId: swap.swapId });
    if (lost) $('fault').textContent = '';
    lost = false;
    if (stream.readyState === EventSource.CLOSED) follow();
  } catch (e) {
    lost = true;
    $('fault').textContent = e.code ? e.message : `The service cannot be reached: ${e.message}. The page goes on when it can.`;
  } finally {
    looking = false;
  }
}

const done = ['completed', 'received', 'confirmed', 'settled', 'soft_settled', 'refunded'];

function render(s) {
  swap = { ...swap, ...s };
  $('steps').replaceChildren(...s.steps.filter((p) => p.type !== 'Refund' || p.status !== 'inactive').map((p) => {
    const li = document.createElement('li'), mark = document.createElement('span');
    li.className = done.includes(p.status) ? 'done' : p.status.endsWith('expired') ? 'failed' : '';
    mark.className = 'mark';
    mark.textContent = ` ${p.status.replaceAll('_', ' ')}`;
    if (p.confirmations && p.confirmations.current < p.confirmations.target) mark.textContent += `, ${p.confirmations.current} of ${p.confirmations.target} confirmations`;
    li.append(p.title, mark);
    for (const id of [p.setupTxId, p.initTxId, p.settleTxId, p.refundTxId]) {
      if (!id) continue;
      const code = document.createElement('code');
      code.textContent = id;
      li.append(code);
    }
    return li;
  }));
  $('q-miners').textContent = show(s.quote.fees.networkInput);
  $('state').textContent = s.state.description;
  const a = s.currentAction, deposit = a?.type === 'SendToAddress' ? a.txs[0] : null;
  $('deposit').hidden = !deposit;
  if (deposit && $('address').textContent !== deposit.address) {
    $('address').textContent = deposit.address;
    $('deposit-text').textContent = `Pay ${show(deposit.amount)}: scan the code, copy it, or let the local network’s user pay.`;
    $('code').src = `qr?text=${encodeURIComponent(deposit.hyperlink || deposit.address)}`;
    $('code').alt = `QR code of ${a.chain === 'LIGHTNING' ? 'the invoice' : 'the address'}`;
  }
  const label = { SendToAddress: 'Pay', SignPSBT: 'Sign and pay', SignSmartChainTransaction: a?.name === 'Refund' ? 'Get the money back' : a?.name === 'Settle manually' ? 'Claim' : 'Sign' }[a?.type];
  $('go').hidden = !label || deposit?.address === paid;
  $('go').textContent = label ?? '';
  $('mine').hidden = !s.steps.some((p) => p.chain === 'BITCOIN');
  $('fault').textContent = s.actionError?.error ?? '';
  $('again').hidden = !s.isFinished;
  if (s.isFinished) {
    stream.close();
    $('mine').hidden = true;
    $('state').textContent = s.isSuccess ? `Done: ${show(s.quote.outputAmount)} received.` : s.state.description;
    $('again').focus();
  }
}

// act does what the swap asks for: with the browser's wallet, or as the local network's user.
async function act() {
  const a = swap.currentAction;
  if (a.type === 'SendToAddress' && a.chain === 'LIGHTNING') {
    await call('local/pay', {}, { invoice: a.txs[0].address });
    paid = a.txs[0].address; // the provider holds it, which the next event says
    $('go').hidden = true;
    return;
  }
  if (a.type === 'SignSmartChainTransaction' && browser && a.requiredSigner.toLowerCase() === browser.address.toLowerCase()) {
    // Events leave out what a stranger could use: the newest transactions come with the status.
    const now = await call('api/getSwapStatus', { swapId: swap.swapId });
    return send(browser, now.currentAction.txs);
  }
  const { signedTxs } = await call('local/sign', {}, { swapId: swap.swapId });
  return call('api/submitTransaction', {}, { swapId: swap.swapId, signedTxs });
}

// busy runs what a button does, shows what went wrong, and lets nobody press it twice.
function busy(button, alert, does) {
  return async (event) => {
    event?.preventDefault();
    if (button.disabled) return;
    button.disabled = true;
    alert.textContent = '';
    try { await does(); } catch (e) { alert.textContent = e.message; } finally { button.disabled = false; }
  };
}

function countdown() {
  if (!swap || $('quote').hidden) return;
  const left = Math.floor((swap.quote.expiry - Date.now()) / 1000);
  $('q-left').textContent = swap.isFinished || left <= 0 ? 'over' : `${Math.floor(left / 60)} min ${String(left % 60).padStart(2, '0')} s`;
}

async function start() {
  const [inputs, outputs, who] = await Promise.all([call('api/getSupportedTokens', { side: 'INPUT' }), call('api/getSupportedTokens', { side: 'OUTPUT' }), call('local/user')]);
  user = who;
  for (const t of [...inputs, ...outputs]) tokens.set(t.id, t);
  fill($('from'), inputs, 'LIGHTNING-BTC');
  await pair('CITREA-WBTC');
  $('from').addEventListener('change', () => pair().catch((e) => { $('problem').textContent = e.message; }));
  $('to').addEventListener('change', () => terms().catch((e) => { $('problem').textContent = e.message; }));
  $('turn').addEventListener('click', busy($('turn'), $('problem'), async () => {
    const from = $('from').value;
    $('from').value = $('to').value;
    await pair(from);
  }));
  for (const [typed, other] of [['pay', 'receive'], ['receive', 'pay']]) {
    $(typed).addEventListener('input', () => { last = typed; $(other).value = ''; $(other).placeholder = 'as quoted'; });
  }
  $('order').addEventListener('submit', busy($('ask'), $('problem'), async () => open(await order())));
  $('go').addEventListener('click', busy($('go'), $('fault'), act));
  $('mine').addEventListener('click', busy($('mine'), $('fault'), () => call('local/mine', {}, {})));
  $('copy').addEventListener('click', async () => { await navigator.clipboard.writeText($('address').textContent); $('copy').textContent = 'Copied'; });
  $('again').addEventListener('click', () => { location.hash = ''; location.reload(); });
  $('connect').addEventListener('click', busy($('connect'), $('problem'), async () => {
    browser = await connect();
    $('who').textContent = `Browser wallet ${browser.address}`;
    await terms();
  }));
  setInterval(countdown, 1000);
  setInterval(look, 2000);
  if (location.hash.length > 1) open(await call('api/getSwapStatus', { swapId: location.hash.slice(1) }));
  document.body.dataset.ready = 'true';
}

start().catch((e) => { $('problem').textContent = `The service cannot be reached: ${e.message}`; });
