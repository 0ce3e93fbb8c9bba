// A swap on the page: what it costs, what is to be done, how far it is. It follows the swap
// by the service's events and asks for the status while somebody looks.
import { $, announce, busy, copyable, hide, make, text, unfold } from './dom.js';
import { call, kept } from './api.js';
import { number, plain, rate, show, value } from './amounts.js';
import { chainName, hasDeposit, hindrance, reason, refundFrom, step, takes, told } from './words.js';
import { asked, phase, unused } from './phase.js';
import { icon, mark } from './marks.js';
import { explorer } from './explorers.js';
import { send } from './browser-wallet.js';
import { tokenOf } from './form.js';
import { lost, whenBack } from './online.js';
import { check, prepared, settle, submit } from './verifier.js';
import * as wallets from './wallets.js';

let swap = null, stream = null, did = {}, events = 0, looking = false, now = null, network = '', gone = () => {}, leave = () => {}, newest = 0;

// open shows a swap; false if something else was opened meanwhile.
export async function open(id) {
  if (swap?.swapId !== id) {
    close();
    const mine = ++newest;
    const s = await call('api/getSwapStatus', { swapId: id });
    if (mine !== newest) return false;
    swap = s;
    did = { sent: sessionStorage.getItem(`sent ${id}`) ?? '' };
    for (const t of document.querySelectorAll('#view-swap details')) t.open = false;
    now = null;
  }
  render();
  follow();
  look();
  return true;
}

// close ends the following; the swap itself goes on.
export function close() {
  newest++;
  stream?.close();
  stream = swap = null;
}

export const current = () => swap;

// view is the swap with the action that was verified in place of the service's: what the
// page's own nodes make possible, such as a claim or a refund, needs no word of the service.
const view = () => (did.check?.of === of(swap) && did.check.action ? { ...swap, currentAction: did.check.action } : swap);

// phaseOf is the phase of a status that is shown.
const phaseOf = (s) => phase(s, did, Date.now(), kept(s.swapId), wallets.elsewhere(s.currentAction));

// rewalleted shows what a change of the browser wallet changes.
export function rewalleted() {
  if (!swap) return;
  did.fault = false; // which was about the wallet as it was
  render();
}

// of names what a check is about.
const of = (s) => asked(s) || (s.requiresSecretReveal ? 'reveal' : 'wait');

function follow() {
  stream?.close();
  if (swap.isFinished) return;
  stream = new EventSource(`api/subscribe?swapId=${encodeURIComponent(swap.swapId)}`);
  const id = swap.swapId;
  stream.addEventListener('swap', (e) => { events++; if (swap?.swapId === id) update(JSON.parse(e.data)); });
  stream.addEventListener('error', () => { if (stream?.readyState === EventSource.CLOSED) setTimeout(look, 1000); });
}

function update(s) {
  swap = { ...swap, ...s, actionError: s.actionError };
  if (did.sent && did.sent !== asked(view())) sent('');
  render();
  if (swap.isFinished) stream?.close();
}

// look asks for the status: then the service looks at chains and providers at once. What an
// event has told meanwhile is newer.
async function look() {
  if (!swap || swap.isFinished || document.hidden || looking) return;
  looking = true;
  const id = swap.swapId, before = events;
  try {
    const s = await call('api/getSwapStatus', { swapId: id });
    if (swap?.swapId !== id) return;
    if (events === before) update(s);
    if (stream?.readyState === EventSource.CLOSED) follow();
  } catch (e) {
    if (e.code === 'not_found' && swap?.swapId === id) gone(id);
    if (e.code === 'away') { lost(); if (swap?.swapId === id) render(); } // own nodes may make the next step possible
  } finally {
    looking = false;
  }
}

// sent remembers, through a reload, that what a swap asks for was done.
function sent(what) {
  did.sent = what;
  try { sessionStorage.setItem(`sent ${swap.swapId}`, what); } catch { /* only a reload forgets it */ }
}

function render() {
  const focused = document.activeElement, allowed = verified(), s = view(), q = s.quote, p = phaseOf(s);
  $('view-swap').dataset.phase = p.name;
  if (now !== p.title) {
    text($('headline'), p.title.replace(/(\d) (?=\w*[A-Z])/g, '$1\u00a0')); // an amount keeps its token beside it
    document.title = `${p.title} · Swap`;
    if (now !== null) announce(`${p.title}. ${p.lead}`);
    now = p.title;
  }
  text($('lead'), ['refused', 'follow'].includes(did.check?.how) && !$('verified').hidden ? '' : p.lead);
  sign(p.sign);
  [...$('flow').children].forEach((li, i) => {
    li.className = i < p.stage ? 'done' : i === p.stage ? 'now' : '';
    if (i === p.stage) li.setAttribute('aria-current', 'step'); else li.removeAttribute('aria-current');
  });
  hide($('flow'), ['over', 'expired', 'late', 'dropped', 'refunded', 'failed'].includes(p.name));
  bar(p);
  deposit(p, allowed);
  const button = $('go');
  if (asks.includes(p.name) && !allowed && (p.name !== 'elsewhere' || ['refused', 'follow'].includes(did.check?.how))) p.button = undefined;
  hide(button, !p.button);
  text(button, p.button ?? '');
  text($('with'), p.button && asks.includes(p.name) && p.name !== 'elsewhere' ? payer(s, p) : '');
  if (s.actionError && !s.isFinished && p.name !== 'over' && !did.fault) text($('fault'), problemOf(s.actionError));
  else if (!did.fault) text($('fault'), '');
  const over = s.isFinished || p.name === 'late' || p.name === 'dropped';
  hide($('change'), !(unused(s) && kept(s.swapId) && ['deposit', 'sign', 'elsewhere'].includes(p.name)));
  hide($('another'), over || unused(s));
  hide($('share'), over || unused(s) && p.name !== 'sent');
  hide($('mine'), network !== 'local' || s.isFinished || unused(s) || !s.steps.some((x) => x.chain === 'BITCOIN'));
  if (focused?.closest('#view-swap [hidden]')) $('headline').focus({ preventScroll: true }); // what was pressed is done
  countdown();
  about(s, q);
  steps(s);
}

// asks are the phases in which the user is asked for something.
const asks = ['deposit', 'sign', 'claim', 'refund', 'elsewhere'];

// verified has what the swap asks for verified, shows what it found, and reports whether the
// user may pay or sign. A swap that is paid is looked after too: its secret is told, and its
// claim or refund made, by what the page's own nodes show.
function verified() {
  const wants = asked(swap) || swap.requiresSecretReveal, what = of(swap), before = did.check?.of === what ? did.check : null;
  const over = ['late', 'dropped', 'expired', 'over'].includes(phaseOf(swap).name);
  const done = swap.isFinished || over || did.doing || did.sent && did.sent === asked(view());
  const again = before ? before.at + { waits: wants ? 2_000 : 10_000, busy: 60_000, told: 10_000, refused: 10_000, follow: Infinity, good: swap.currentAction?.type === 'SendToAddress' ? 10_000 : Infinity }[before.how] : 0; // a node may have been away, and time passes
  if (!done && (wants || !unused(swap)) && Date.now() >= again) verify(what, before);
  const shown = did.check?.of === what && !done && (did.check.how === 'follow' ? asked(swap) : wants || ['good', 'refused'].includes(did.check.how)) ? did.check : null;
  hide($('verified'), !shown);
  if (!shown) return !wants;
  $('verified').className = `verified ${shown.how}`;
  text($('verified-title'), { busy: 'Being verified', waits: 'Being verified', good: 'Verified by this page', told: 'Verified by this page', refused: 'Refused', follow: 'Only to follow' }[shown.how]);
  if ($('verified').dataset.says !== shown.words + shown.found) { // or screen readers repeat it
    $('verified').dataset.says = shown.words + shown.found;
    $('verified-words').replaceChildren(...told(shown.words), ...(shown.found ? [unfold('What was found', shown.found)] : []));
  }
  return shown.how === 'good';
}

// verify has the newest status verified, once for what it asks for; act does so again with what
// is signed or paid. Without the service the last status will do.
async function verify(what, before) {
  const s = swap, mine = { ...(before ?? { how: 'busy', words: `The page asks its own nodes.${prepared() ? '' : ' The first time, verification is being prepared, which takes a moment.'}` }), of: what, at: Infinity };
  did.check = mine;
  let judged;
  try {
    const fresh = await call('api/getSwapStatus', { swapId: s.swapId }).catch((e) => { if (e.code === 'away') return s; throw e; });
    if (of(fresh) !== what) { if (did.check === mine) { did.check = null; update(fresh); } return; }
    judged = await check(fresh, kept(s.swapId), fresh.currentAction?.type === 'SignPSBT' ? wallets.bitcoin() : {});
  } catch (e) {
    judged = { how: 'refused', words: reason(e).text };
  }
  if (swap?.swapId !== s.swapId || did.check !== mine) return;
  did.check = { ...judged, of: what, at: Date.now() };
  render();
}

// problemOf says what keeps an action from being built, for its reader.
function problemOf(e) {
  if (refundFrom(e)) return ''; // which the phase says
  return e.code === 'upstream' ? 'A provider or node does not answer now. The page tries again.' : hindrance(e.error);
}

// payer says whose wallet the button asks.
function payer(s, p) {
  const a = s.currentAction;
  if (!a || kept(s.swapId)?.link && p.name === 'deposit') return '';
  if (a.type === 'SignSmartChainTransaction' && wallets.theirs(a.requiredSigner)) return 'Your browser wallet asks you to confirm.';
  return 'The button uses the test wallet of the local network.';
}

function sign(name) {
  const e = $('sign');
  if (e.dataset.name === (name ?? '')) return;
  e.dataset.name = name ?? '';
  e.className = name ? `sign ${name}` : '';
  e.replaceChildren(...(!name ? [] : name === 'wait' || name === 'ready' ? [make('span', { class: 'orbit' }), mark(swap.quote.outputAmount.chain, swap.quote.outputAmount.symbol, 44)] : [icon(name)]));
}

function bar(p) {
  hide($('bar'), p.far === undefined || p.name === 'refunded' || p.name === 'failed');
  if (p.far === undefined) return;
  $('bar').setAttribute('aria-valuenow', p.far);
  $('bar').setAttribute('aria-valuetext', p.title);
  $('bar-fill').style.inlineSize = `${p.far}%`;
}

function deposit(p, allowed) {
  const a = view().currentAction, tx = p.name === 'deposit' && allowed ? a.txs[0] : null;
  hide($('deposit'), !tx);
  if (!tx || $('deposit').dataset.address === tx.address) return;
  $('deposit').dataset.address = tx.address;
  const lightning = a.chain === 'LIGHTNING';
  $('code').src = `qr?text=${encodeURIComponent(tx.hyperlink || tx.address)}`;
  $('code').alt = `QR code of the ${lightning ? 'invoice' : 'address'} for ${show(tx.amount)}`;
  $('deposit-link').href = tx.hyperlink || `#/swap/${swap.swapId}`;
  $('deposit-link').setAttribute('aria-label', `Open the ${lightning ? 'invoice' : 'address'} in a wallet on this device`);
  text($('deposit-kind'), lightning ? 'Invoice' : 'Address');
  hide($('deposit-amount-line'), lightning); // which is in the invoice
  $('deposit-amount').replaceChildren(copyable('amount', plain(tx.amount.rawAmount, tx.amount.decimals)), ` ${tx.amount.symbol}`);
  $('deposit-address').replaceChildren(copyable(lightning ? 'invoice' : 'address', tx.address));
}

function countdown() {
  if (!swap) return;
  const runs = ['deposit', 'sign', 'elsewhere'].includes($('view-swap').dataset.phase) && unused(swap);
  const left = Math.ceil((swap.quote.expiry - Date.now()) / 1000);
  hide($('timer'), !runs || left <= 0);
  if (runs && left <= 0) return render();
  const m = Math.floor(left / 60), h = Math.floor(m / 60);
  text($('left'), h ? `${h} h ${m % 60} min` : `${m}:${String(left % 60).padStart(2, '0')}`);
  $('timer').classList.toggle('soon', left < 30);
}

// about tells what the swap costs. It changes only with the quote.
function about(s, q) {
  const known = JSON.stringify([s.swapId, q, s.swapType, s.isFinished]);
  if ($('about').dataset.of === known) return;
  $('about').dataset.of = known;
  const input = tokenOf(q.inputAmount), output = tokenOf(q.outputAmount);
  $('s-from-mark').replaceChildren(mark(q.inputAmount.chain, q.inputAmount.symbol));
  $('s-to-mark').replaceChildren(mark(q.outputAmount.chain, q.outputAmount.symbol));
  text($('s-pay'), show(q.inputAmount));
  text($('s-receive'), show(q.outputAmount));
  text($('s-pay-where'), `You ${s.isSuccess ? 'paid' : 'pay'} on ${chainName(q.inputAmount.chain)}`);
  text($('s-receive-where'), `You ${s.isSuccess ? 'received' : 'receive'} on ${chainName(q.outputAmount.chain)}`);
  values();
  text($('s-rate'), rate(q.inputAmount.rawAmount, input, q.outputAmount.rawAmount, output));
  fees(q);
  hide($('s-deposit-row'), !hasDeposit(s) || s.isFinished);
  hide($('s-time-row'), s.isFinished);
  text($('s-time'), takes(q.inputAmount.chain, q.outputAmount.chain));
  const to = q.outputAddress;
  $('s-to').replaceChildren(...(to ? [copyable('recipient', to, q.outputAmount.chain === 'LIGHTNING' ? undefined : explorer(network, q.outputAmount.chain, 'address', to))] : ['not known']));
  $('s-id').replaceChildren(copyable('swap id', s.swapId));
}

// values says what the amounts are worth now.
export function values() {
  if (!swap) return;
  for (const [side, a] of [['pay', swap.quote.inputAmount], ['receive', swap.quote.outputAmount]]) text($(`s-${side}-worth`), value(a.rawAmount, tokenOf(a)));
}

// fees shows one sum, which unfolds. All fees are in the token that is paid.
function fees(q) {
  const f = q.fees, total = [f.swap, f.networkOutput, f.networkInput].reduce((sum, a) => sum + BigInt(a?.rawAmount ?? 0), 0n);
  const share = Number(total) / Number(q.inputAmount.rawAmount) * 100;
  text($('s-fee'), `${number(total, q.inputAmount.decimals, q.inputAmount.symbol)} ${q.inputAmount.symbol} (${share < 0.1 ? 'under 0.1' : share.toFixed(1)} %)`);
  const part = (name, a, more) => a && BigInt(a.rawAmount) > 0n ? make('div', {}, make('dt', {}, name), make('dd', {}, show(a), more ? make('span', { class: 'small' }, ` ${more}`) : '')) : '';
  $('s-fee-parts').replaceChildren(...[part('Provider', f.swap), part(`Network, ${chainName(q.outputAmount.chain)}`, f.networkOutput), part('Bitcoin’s miners', f.networkInput, 'beside the amount')].filter(Boolean));
}

function steps(s) {
  const list = s.steps.filter((p) => p.type !== 'Refund' || p.status !== 'inactive');
  const known = JSON.stringify(list);
  if ($('steps').dataset.of === known) return;
  $('steps').dataset.of = known;
  const before = new Set(); // the opening of an escrow is an id of two steps
  $('steps').replaceChildren(...list.map((p) => {
    const w = step(p, s), paid = !['awaiting', 'inactive'].includes(p.status) || p.type !== 'Payment';
    const ids = [p.setupTxId, paid && p.initTxId, p.settleTxId, p.refundTxId].filter((id) => id && !before.has(id) && before.add(id));
    return make('li', { class: w.how },
      make('span', { class: 'dot', 'aria-hidden': 'true' }),
      make('div', {}, make('span', { class: 'what' }, w.title, make('span', { class: 'unseen' }, { done: ', done', now: ', now', next: ', later', bad: ', missed' }[w.how])), w.detail ? make('span', { class: 'small detail' }, w.detail) : '',
        ...ids.map((id) => make('span', { class: 'small tx' }, copyable(p.chain === 'LIGHTNING' ? 'payment hash' : 'transaction', id, p.chain === 'LIGHTNING' ? undefined : explorer(network, p.chain, 'tx', id))))));
  }));
}

// act does what the swap asks for now. The screen says each moment what goes on.
async function act() {
  const p = $('view-swap').dataset.phase, s = swap;
  if (['received', 'failed', 'refunded', 'expired', 'late', 'dropped'].includes(p)) return leave(p, s);
  if (phaseOf(view()).name !== p) return render(); // the quote has just ended
  if (p === 'elsewhere') return bring(s);
  const own = kept(s.swapId), what = asked(view()), about = of(s);
  const doing = (state) => { did.doing = state; if (swap === s || swap?.swapId === s.swapId) render(); };
  did.fault = false;
  text($('fault'), '');
  try {
    const wallet = p !== 'deposit' || s.currentAction?.chain === 'BITCOIN';
    doing(wallet ? 'wallet' : 'sending');
    // What is signed or paid is what was verified of the newest status; with the wallet's coins
    // where bitcoin is paid.
    const fresh = await call('api/getSwapStatus', { swapId: s.swapId }).catch((e) => { if (e.code === 'away') return s; throw e; });
    if (of(fresh) !== about) return update(fresh);
    const judged = await check(fresh, own, wallets.bitcoin());
    if (judged.how !== 'good') { did.check = { ...judged, of: about, at: Date.now() }; return; }
    const a = judged.action;
    if (a.type === 'SendToAddress') {
      if (own?.link) await settle(s.swapId, own);
      else await call('local/pay', {}, { invoice: a.txs[0].address });
    } else if (wallets.theirs(a.requiredSigner)) await send(wallets.theirs(a.requiredSigner), a.txs, () => doing('sending')).catch((e) => { if (e.code === 'elsewhere') wallets.found(e.chainId); throw e; });
    else {
      const { signedTxs } = await call('local/sign', {}, { action: a });
      doing('sending');
      await submit(s.swapId, own, signedTxs);
    }
    if (swap?.swapId === s.swapId && asked(view()) === what) sent(what);
  } catch (e) {
    if (e.code !== 'elsewhere') throw e; // which has a screen of its own
    did.check = null;
  } finally {
    doing('');
    if (swap?.swapId === s.swapId) look();
  }
}

// bring has the browser wallet change to the swap's network.
async function bring(s) {
  const a = view().currentAction, { on, to } = wallets.elsewhere(a);
  did.fault = false;
  text($('fault'), '');
  Object.assign(did, { doing: 'switching', to });
  render();
  try {
    await wallets.bring(a.chain);
  } catch (e) {
    if (e.code === -32002) throw e;
    throw new Error(e.code === 4001 ? `You declined, so your wallet stays on ${on || 'its network'}. Nothing was signed or sent. Switch here when you are ready, or choose ${to} in the wallet.`
      : `Your wallet did not switch. Choose ${to} in it: the page goes on as soon as it is there.`);
  } finally {
    did.doing = '';
    if (swap?.swapId === s.swapId) {
      render();
      if (!$('go').hidden) $('go').focus();
    }
  }
}

// listen sets up what the view listens to: left is told of a swap whose button leads
// elsewhere, missing of one that is gone.
export function listen(site, { left, missing }) {
  network = site.network;
  leave = left;
  gone = missing;
  const failed = (e) => {
    did.fault = true;
    text($('fault'), reason(e).text);
    $('go').focus();
  };
  $('go').addEventListener('click', busy($('go'), act, failed));
  $('mine').addEventListener('click', busy($('mine'), async () => { await call('local/mine', {}, {}); await look(); }, failed));
  $('share').addEventListener('click', async () => {
    await navigator.clipboard.writeText(location.href).then(() => announce('Copied the link.'), () => announce('This browser does not let the page copy.'));
    text($('share'), 'Link copied');
    setTimeout(() => text($('share'), 'Copy the link to this swap'), 1500);
  });
  $('another').addEventListener('click', () => leave('another', swap));
  $('change').addEventListener('click', () => leave('change', swap));
  setInterval(countdown, 1000);
  setInterval(look, 2000);
  whenBack(() => { if (swap) { did.fault = false; look(); } });
}

