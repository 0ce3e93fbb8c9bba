// The swaps of this user: those of his addresses, and those that this browser has made for
// other recipients, which the service knows by their id.
import { $, hide, make, text } from './dom.js';
import { call, kept } from './api.js';
import { show } from './amounts.js';
import { reason } from './words.js';
import { stepOf, unused } from './phase.js';
import { linkTo } from './route.js';
import { mark } from './marks.js';
import { newestIds } from './form.js';
import { whenBack } from './online.js';
import * as wallets from './wallets.js';

// status is a word for a swap in the list, and how it is drawn.
function status(s) {
  if (s.isFinished) {
    if (s.isSuccess) return ['Received', 'good'];
    if (stepOf(s, 'Refund')?.status === 'refunded') return ['Returned', 'plain'];
    return !s.isFailed && (s.isExpired || unused(s)) ? ['Expired', 'plain'] : ['Not completed', 'bad'];
  }
  if (s.isFailed) return ['Too late', 'bad'];
  if (unused(s)) return s.quote.expiry <= Date.now() ? ['Expired', 'plain'] : ['Not paid yet', 'plain'];
  if (s.steps.some((p) => p.status === 'awaiting_manual' || p.type === 'Refund' && p.status === 'awaiting' || p.type === 'Payment' && p.status === 'awaiting')) return ['Needs you', 'now'];
  return ['Under way', 'now'];
}

// passing is a quote of another browser, or one by which the price was asked: it cannot be paid here.
const passing = (s) => unused(s) && !kept(s.swapId);
const underWay = (s) => !s.isFinished && !unused(s);

const deleted = new Set(); // of this browser's quotes: they are not asked for again

async function all() {
  const lists = await Promise.all(wallets.signers().map((signer) => call('api/listSwaps', { signer, limit: 100 })));
  const found = new Map(lists.flat().map((s) => [s.swapId, s]));
  const others = await Promise.all(newestIds({ has: (id) => found.has(id) || deleted.has(id) }).map((id) => call('api/getSwapStatus', { swapId: id }).catch((e) => { if (e.code === 'away') throw e; if (e.code === 'not_found') deleted.add(id); return null; })));
  for (const s of others) if (s) found.set(s.swapId, s);
  return [...found.values()].filter((s) => !passing(s)).sort((a, b) => b.createdAt - a.createdAt);
}

// ago writes when something was.
function ago(at) {
  const minutes = Math.round((Date.now() - at) / 60000);
  if (minutes < 1) return 'just now';
  if (minutes < 60) return `${minutes} min ago`;
  return minutes < 24 * 60 ? `${Math.round(minutes / 60)} h ago` : new Date(at).toLocaleDateString('en', { day: 'numeric', month: 'short', year: 'numeric' });
}

function row(s) {
  const q = s.quote, [word, how] = status(s);
  return make('li', {}, make('a', { href: linkTo(s.swapId), class: 'card' },
    make('span', { class: 'marks' }, mark(q.inputAmount.chain, q.inputAmount.symbol, 32), mark(q.outputAmount.chain, q.outputAmount.symbol, 32)),
    make('span', { class: 'sums' }, make('b', {}, show(q.inputAmount)), make('span', { 'aria-label': 'for' }, ' → '), make('b', {}, show(q.outputAmount))),
    make('span', { class: 'small when' }, ago(s.createdAt)),
    make('span', { class: `state ${how}` }, word)));
}

// refresh reads the list, and counts beside its link what is under way.
export async function refresh() {
  try {
    const list = await all();
    const running = list.filter(underWay).length;
    hide($('running-line'), !running);
    text($('running'), String(running));
    const known = JSON.stringify(list.map((s) => [s.swapId, status(s), ago(s.createdAt)]));
    if ($('swaps').dataset.of !== known) {
      const at = $('swaps').contains(document.activeElement) ? document.activeElement.getAttribute('href') : null;
      $('swaps').replaceChildren(...list.map(row));
      $('swaps').dataset.of = known;
      if (at) [...$('swaps').querySelectorAll('a')].find((a) => a.getAttribute('href') === at)?.focus();
    }
    hide($('no-swaps'), list.length > 0);
    text($('swaps-problem'), '');
  } catch (e) {
    text($('swaps-problem'), e.code === 'away' ? '' : reason(e).text);
  }
}

export function listen() {
  setInterval(() => { if (!document.hidden && !$('view-swaps').hidden) refresh(); }, 3000);
  whenBack(refresh);
}
