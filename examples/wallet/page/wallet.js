// The page of a wallet. One thing is shown at a time: the form, a swap, the list of swaps,
// or that a swap is not there.
import { $, announce, busy, hide, text } from './dom.js';
import { call } from './api.js';
import { currencies, setCurrency, setRates, source } from './amounts.js';
import { go, linkTo, start as route } from './route.js';
import { icon } from './marks.js';
import { reason } from './words.js';
import { whenBack } from './online.js';
import * as form from './form.js';
import * as swap from './swap.js';
import * as list from './list.js';
import * as wallets from './wallets.js';

const titles = { 'view-form': 'form-title', 'view-swap': 'headline', 'view-swaps': 'swaps-title', 'view-gone': 'gone-title' };
let shown = '', ready = false;

// view shows one section, and puts the focus on its title unless the page has just come.
function view(id) {
  for (const v of Object.keys(titles)) hide($(v), v !== id);
  for (const [link, v] of [['to-swaps', 'view-swaps']]) {
    if (v === id) $(link).setAttribute('aria-current', 'page'); else $(link).removeAttribute('aria-current');
  }
  if (id !== 'view-swap') document.title = { 'view-form': 'Swap', 'view-swaps': 'Your swaps · Swap', 'view-gone': 'Not found · Swap' }[id];
  if (ready && shown !== id) {
    scrollTo(0, 0);
    $(titles[id]).focus({ preventScroll: true });
  }
  shown = id;
}

// show shows what the address says.
async function show({ view: name, id }) {
  if (name === 'swap') {
    try {
      if (await swap.open(id)) view('view-swap');
    } catch (e) {
      missing(id, e);
    }
    return;
  }
  swap.close();
  view(name === 'swaps' ? 'view-swaps' : 'view-form');
  list.refresh();
}

// missing says why a swap cannot be shown.
function missing(id, e = { code: 'not_found' }) {
  swap.close();
  const away = e.code === 'away';
  $('gone-sign').className = 'sign plain';
  $('gone-sign').replaceChildren(icon(away ? 'clock' : 'warn'));
  text($('gone-title'), away ? 'Waiting for the service' : 'This swap was not found');
  text($('gone-lead'), away ? 'The swap is shown as soon as the service can be reached again.' : e.code === 'not_found' || e.code === 'invalid_input' ? 'The link may be cut off, or the quote was never paid and is deleted by now. Swaps with money in them are never deleted.' : reason(e).text);
  view('view-gone');
}

// left is where a swap's button leads when nothing is left to do in it.
async function left(why, s) {
  if (['expired', 'late', 'refunded'].includes(why)) await form.again(s);
  else if (why !== 'change' && why !== 'dropped') form.clear();
  go('#/');
  $('pay').focus();
}

function settings() {
  const select = $('currency');
  select.replaceChildren(...currencies.map((c) => new Option(c, c)));
  try { select.value = localStorage.getItem('currency') ?? 'USD'; } catch { /* the first one */ }
  if (!select.value) select.value = 'USD';
  const choose = () => { setCurrency(select.value); revalue(); };
  choose();
  select.addEventListener('change', () => {
    choose();
    try { localStorage.setItem('currency', select.value); } catch { /* until the next reload */ }
  });
}

// revalue writes values anew, in another currency or by other prices.
function revalue() {
  form.values();
  swap.values();
}

async function prices() {
  try {
    setRates(await call('rates'));
    revalue();
  } catch { /* values are left out, or stay as they were */ }
}

async function begin() {
  const site = await call('site');
  await wallets.load(site);
  await prices();
  await form.load();
  const local = site.network === 'local';
  text($('foot'), `${local ? 'A local network: money on this page has no value, and blocks come when they are wanted. ' : ''}Values in other currencies are by the service’s price source${source() ? `${local ? ', simulated here' : ` (${source()})`}` : ''}, and only for reading.`);
  settings();
  form.listen((id) => go(linkTo(id)));
  swap.listen(site, { left, missing });
  list.listen();
  $('connect').addEventListener('click', busy($('connect'), async () => {
    const changed = () => { text($('connect'), wallets.address('CITREA')?.replace(/^(.{6}).*(.{4})$/, '$1…$2') ?? 'Connect wallet'); form.refresh().catch(() => {}); list.refresh(); swap.rewalleted(); };
    await wallets.connect(changed, swap.rewalleted);
    changed();
    announce('The browser wallet is connected.');
  }, (e) => {
    const at = $(shown === 'view-form' ? 'problem' : 'no-wallet');
    text(at, reason(e).text);
    hide(at, false);
    if (at.id === 'no-wallet') setTimeout(() => hide(at, true), 8000);
  }));
  setInterval(() => { if (!document.hidden) prices(); }, 30_000);
  whenBack(() => { prices(); if (shown === 'view-gone') show({ view: 'swap', id: location.hash.split('/')[2] }); else if (shown === 'view-form') form.refresh().catch(() => {}); });
  list.refresh();
  await route(show);
  ready = true;
  hide($('gone-new'), false);
  document.body.dataset.ready = 'true';
}

// The service may be away when the page comes: it is tried until it is there.
async function first() {
  for (;;) {
    try { return await begin(); } catch (e) {
      if (!shown) {
        view('view-gone');
        $('gone-sign').className = 'sign plain';
        $('gone-sign').replaceChildren(icon('clock'));
        text($('gone-title'), 'Waiting for the service');
        text($('gone-lead'), e.code === 'away' ? 'The page starts as soon as the service can be reached.' : reason(e).text);
        hide($('gone-new'), true);
      }
      await new Promise((next) => setTimeout(next, 2000));
    }
  }
}

first();
