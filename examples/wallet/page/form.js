// The form: what to swap, how much, and to whom. One amount is what the user has typed; the
// other follows by the market's price until the quote fixes it.
import { $, busy, hide, text, unfold } from './dom.js';
import { call, keep, keptIds, kept } from './api.js';
import { convert, number, parse, plain, rate, value } from './amounts.js';
import { chainName, linkFails, reason, takes } from './words.js';
import { mark } from './marks.js';
import { canScan, scan } from './scan.js';
import { create } from './verifier.js';
import * as wallets from './wallets.js';

const tokens = new Map(); // by identifier
let inputs = [], exact = 'pay', fixed = false, limits = null, available = null, link = null, quoted = null, turn = 0;

export const token = (id) => tokens.get(id);
export const tokenOf = (amount) => tokens.get(`${amount.chain}-${amount.symbol}`) ?? { id: `${amount.chain}-${amount.symbol}`, ticker: amount.symbol, chainId: amount.chain, decimals: amount.decimals };
const from = () => tokens.get($('from').value), to = () => tokens.get($('to').value);
const sideToken = (side) => side === 'pay' ? from() : to();

// load gets the tokens, and starts with Lightning to the first token of a smart chain.
export async function load() {
  const [ins, outs] = await Promise.all([call('api/getSupportedTokens', { side: 'INPUT' }), call('api/getSupportedTokens', { side: 'OUTPUT' })]);
  for (const t of [...ins, ...outs]) tokens.set(t.id, t);
  inputs = ins;
  options($('from'), inputs, 'LIGHTNING-BTC');
  await pair('CITREA-WBTC');
}

function options(select, list, chosen) {
  const groups = Map.groupBy ? Map.groupBy(list, (t) => t.chainId) : list.reduce((m, t) => m.set(t.chainId, [...(m.get(t.chainId) ?? []), t]), new Map());
  select.replaceChildren(...[...groups].map(([chain, of]) => {
    const group = document.createElement('optgroup');
    group.label = chainName(chain);
    group.append(...of.map((t) => new Option(`${t.ticker} · ${chainName(chain)}`, t.id)));
    return group;
  }));
  if (list.some((t) => t.id === chosen)) select.value = chosen;
}

// pair offers the tokens that the chosen one can be swapped for. An answer that comes after
// the next change is not used, here and in terms.
async function pair(chosen) {
  const mine = ++turn;
  text($('limits'), '');
  const list = await call('api/getSwapCounterTokens', { token: $('from').value, side: 'INPUT' });
  if (mine !== turn) return;
  options($('to'), list, chosen ?? $('to').value);
  await terms();
}

// terms gets what depends on the pair: limits, balance, recipient.
async function terms() {
  const mine = ++turn, src = from(), dst = to();
  limits = available = null;
  for (const [side, t] of [['from', src], ['to', dst]]) {
    $(`${side}-mark`).replaceChildren(mark(t.chainId, t.ticker));
    text($(`${side}-ticker`), t.ticker);
    text($(`${side}-chain`), chainName(t.chainId));
  }
  text($('limits'), '');
  hide($('balance-line'), true);
  const field = $('recipient');
  if (!field.value || field.dataset.chain !== dst.chainId) suggest(dst.chainId);
  note();
  follow();
  const [l, b] = await Promise.all([call('api/getSwapLimits', { srcToken: src.id, dstToken: dst.id }), src.chainId === 'BITCOIN' || wallets.address(src.chainId) || src.chainId === 'LIGHTNING' ? wallets.balance(src).catch(() => null) : null]);
  if (mine !== turn) return;
  limits = l;
  available = b;
  const side = l.input, n = (a) => number(a.rawAmount, a.decimals, a.symbol);
  text($('limits'), side.max && BigInt(side.max.rawAmount) < BigInt(side.min.rawAmount) ? 'Not possible now' : side.max ? `${n(side.min)} to ${n(side.max)} ${src.ticker}` : `at least ${n(side.min)} ${src.ticker}`);
  if (b !== null) {
    text($('balance'), `${number(b, src.decimals, src.ticker)} ${src.ticker}`);
    hide($('balance-line'), false);
  }
}

// suggest fills in the user's own address on a chain, and on Lightning a shop of the test network.
function suggest(chain) {
  const field = $('recipient');
  field.value = (chain === 'LIGHTNING' ? wallets.shop() : wallets.address(chain)) ?? '';
  field.dataset.chain = chain;
  fixed = false;
}

function note() {
  const a = $('recipient').value.trim();
  text($('recipient-note'), !a ? '' : wallets.own(a) ? 'your own wallet' : a === wallets.shop() ? 'a shop on the test network' : fixed ? 'it fixes the amount' : '');
}

// follow writes the amount that was not typed.
function follow() {
  const other = exact === 'pay' ? 'receive' : 'pay';
  let raw = null;
  try { raw = parse($(exact).value, sideToken(exact).decimals); } catch { /* nothing sensible is typed yet */ }
  const guess = raw === null ? null : convert(raw, sideToken(exact), sideToken(other));
  $(other).value = guess ? number(guess, sideToken(other).decimals, sideToken(other).ticker).replaceAll('\u202f', '') : '';
  $(other).classList.add('guess');
  $(exact).classList.remove('guess');
  $('pay').readOnly = $('receive').readOnly = fixed; // by an invoice
  values();
}

// values says what the amounts are worth, the rate and the time.
export function values() {
  const src = from(), dst = to();
  if (!src || !dst) return;
  for (const side of ['pay', 'receive']) {
    let words = '';
    try {
      const v = value(parse($(side).value, sideToken(side).decimals), sideToken(side));
      words = v && (side === exact ? v : side === 'pay' ? `≈ ${v}` : `about ${v}, before fees`);
    } catch { /* nothing sensible is typed yet */ }
    text($(`${side}-value`), words);
    fit($(side));
  }
  const one = 10n ** BigInt(src.decimals), out = convert(one, src, dst);
  text($('e-rate'), out ? rate(one, src, out, dst) : 'with the quote');
  text($('e-time'), takes(src.chainId, dst.chainId));
}

// fit writes an amount smaller if its field is too narrow for it: no digit may be out of sight.
function fit(field) {
  field.style.fontSize = '';
  const { clientWidth: has, scrollWidth: needs } = field;
  if (has && needs > has) field.style.fontSize = `${Math.max(11, Math.floor(parseFloat(getComputedStyle(field).fontSize) * has / needs))}px`;
}

// changed notes that the form is another one than was quoted: that quote cannot be paid any more.
function changed() {
  for (const p of ['pay', 'receive', 'recipient']) problem(p, '');
  text($('problem'), '');
  if (quoted) keep(quoted, { dropped: true });
  quoted = null;
}

function problem(field, words) {
  text($(field ? `${field}-problem` : 'problem'), words);
  if (field) $(field).toggleAttribute('aria-invalid', Boolean(words));
}

// fail says what went wrong where it belongs: the field, or the form.
function fail(e) {
  const { field, text: words } = e.field === undefined && e.at ? { field: e.at, text: e.message } : reason(e, e.about);
  problem(field, words);
  if (e.found) $('problem').append(unfold('What was found', e.found));
  return $(field ?? 'ask');
}

const at = (field, does) => { try { return does(); } catch (e) { throw Object.assign(e, { at: field }); } };

// check is what the page can know itself before it asks.
function check(side, raw) {
  const bounds = limits?.[side === 'pay' ? 'input' : 'output'], t = sideToken(side);
  const e = (field, words) => Object.assign(new Error(words), { at: field });
  const amount = (r) => `${number(r, t.decimals, t.ticker)} ${t.ticker}`;
  if (bounds && raw < BigInt(bounds.min.rawAmount)) throw e(side, `At least ${amount(bounds.min.rawAmount)}.`);
  if (bounds?.max && raw > BigInt(bounds.max.rawAmount)) throw e(side, `At most ${amount(bounds.max.rawAmount)}.`);
  if (side === 'pay' && available !== null && raw > available) throw e(side, `You have ${amount(available)}.`);
  if (!$('recipient').value.trim()) throw e('recipient', to().chainId === 'LIGHTNING' ? 'Paste an invoice, a Lightning address or an LNURL.' : `Type an address on ${chainName(to().chainId)}.`);
}

// order asks for a quote. The form is closed meanwhile, so that the quote is for what it shows.
async function order(open) {
  const src = from(), dst = to(), raw = at(exact, () => parse($(exact).value, sideToken(exact).decimals));
  check(exact, raw);
  $('choices').disabled = true;
  try {
    const request = {
      srcToken: src.id, dstToken: dst.id, amount: raw.toString(), amountType: exact === 'pay' ? 'EXACT_IN' : 'EXACT_OUT',
      srcAddress: link ?? (['BITCOIN', 'LIGHTNING'].includes(src.chainId) ? undefined : wallets.address(src.chainId)), dstAddress: $('recipient').value.trim(),
    };
    const { swapKey, ...made } = await create(request, (what) => text($('ask'), what));
    keep(made.swapId, { key: swapKey, request, link: Boolean(link), at: Date.now(), exact, recipient: $('recipient').value.trim() });
    quoted = made.swapId;
    await open(made.swapId);
  } catch (e) {
    throw Object.assign(e, { about: { token: sideToken(exact), side: exact, asked: raw } });
  } finally {
    $('choices').disabled = false;
    text($('ask'), 'Get a quote');
  }
}

// clear empties the form, for the next swap.
export function clear() {
  quoted = link = null;
  fixed = false;
  exact = 'pay';
  $('pay').value = $('receive').value = '';
  suggest(to().chainId);
  note();
  follow();
}

// again fills the form with what a swap was asked for, to get a new quote.
export async function again(s) {
  const q = s.quote, was = kept(s.swapId) ?? {}, side = was.exact ?? 'pay';
  const a = side === 'pay' ? q.inputAmount : q.outputAmount;
  quoted = null;
  fixed = false;
  if (inputs.some((t) => t.id === tokenOf(q.inputAmount).id)) $('from').value = tokenOf(q.inputAmount).id;
  await pair(tokenOf(q.outputAmount).id);
  exact = side;
  $(side).value = plain(was.request?.amount ?? a.rawAmount, a.decimals); // a quote may be for a little less
  if (q.outputAmount.chain !== 'LIGHTNING' || !/^ln(bc|tb)/i.test(was.recipient ?? '')) $('recipient').value = was.recipient ?? (q.outputAmount.chain === 'LIGHTNING' ? wallets.shop() : q.outputAddress);
  $('recipient').dataset.chain = q.outputAmount.chain;
  note();
  follow();
}

// read fills the form by what was pasted or scanned as recipient: network and amount.
let reading = 0;
async function read() {
  const mine = ++reading, typed = $('recipient').value.trim();
  note();
  if (typed.length < 6) return;
  let found;
  try {
    found = await call('api/parseAddress', { address: typed });
  } catch (e) {
    if (mine === reading && e.code !== 'away') problem('recipient', e.code === 'upstream' ? linkFails : 'This is no address, invoice, LNURL or payment link that can be used here.');
    return;
  }
  if (mine !== reading) return;
  problem('recipient', '');
  if (found.lnurl?.type === 'withdraw') return withdraw(typed, found);
  const chain = { LNURL: 'LIGHTNING' }[found.type] ?? found.type;
  if (to().chainId !== chain) await towards(chain);
  $('recipient').value = found.type === 'BITCOIN' ? found.address : typed.replace(/^lightning:/i, '');
  $('recipient').dataset.chain = chain;
  fixed = Boolean(found.amount);
  if (found.amount) {
    exact = 'receive';
    $('receive').value = plain(found.amount.rawAmount, found.amount.decimals);
  }
  note();
  follow();
}

// towards changes the pair so that money goes to a chain.
async function towards(chain) {
  const has = () => [...$('to').options].find((o) => o.value.startsWith(`${chain}-`))?.value;
  if (!has()) {
    const bitcoin = ['BITCOIN', 'LIGHTNING'].includes(chain);
    const source = inputs.find((t) => bitcoin ? !['BITCOIN', 'LIGHTNING'].includes(t.chainId) && t.ticker === 'WBTC' : t.chainId === 'LIGHTNING');
    if (source) $('from').value = source.id;
    await pair();
  }
  if (has()) $('to').value = has();
  const typed = $('recipient').value;
  $('recipient').dataset.chain = chain;
  await terms();
  $('recipient').value = typed;
}

// withdraw makes an LNURL that pays the source of the swap.
async function withdraw(typed, found) {
  $('from').value = 'LIGHTNING-BTC';
  await pair(to().chainId === 'LIGHTNING' ? 'CITREA-WBTC' : undefined);
  link = typed;
  suggest(to().chainId);
  exact = 'pay';
  $('pay').value = plain((found.lnurl.max ?? found.amount).rawAmount, 8);
  follow();
  text($('recipient-note'), 'the link pays; you receive here');
}

// set up what the form listens to. open is called with the id of a new quote.
export function listen(open) {
  const failed = (e) => fail(e).focus();
  const change = (does) => () => { changed(); link = null; return does().catch(fail); }; // the user is elsewhere
  $('from').addEventListener('change', change(() => pair()));
  $('to').addEventListener('change', change(terms));
  $('turn').addEventListener('click', busy($('turn'), async () => {
    changed();
    const src = $('from').value, amount = $('receive').value;
    if (!inputs.some((t) => t.id === $('to').value)) return;
    $('from').value = $('to').value;
    [exact, fixed, link] = ['pay', false, null];
    $('pay').value = amount;
    await pair(src);
  }, failed));
  for (const side of ['pay', 'receive']) {
    new ResizeObserver(() => fit($(side))).observe($(side));
    $(side).addEventListener('input', () => { changed(); if (exact !== side) exact = side; follow(); });
  }
  $('max').addEventListener('click', () => {
    changed();
    const most = limits?.input.max ? BigInt(limits.input.max.rawAmount) : available;
    exact = 'pay';
    fixed = false;
    $('pay').value = plain(available !== null && available < most ? available : most, from().decimals);
    follow();
  });
  let typing = null;
  $('recipient').addEventListener('input', () => { changed(); fixed = false; link = null; clearTimeout(typing); typing = setTimeout(() => read().catch(fail), 250); });
  hide($('scan'), !canScan());
  $('scan').addEventListener('click', busy($('scan'), async () => {
    const code = await scan();
    if (!code) return;
    changed();
    $('recipient').value = code;
    await read();
  }, (e) => failed(Object.assign(e, { at: 'recipient' }))));
  $('order').addEventListener('submit', busy($('ask'), () => order(open), failed));
}

// refresh gets what a new wallet or a service that is back changes.
export async function refresh() {
  if (!tokens.size) return load();
  text($('problem'), '');
  suggest(to().chainId);
  return terms();
}

// newestIds are the swaps of this browser that no address of the user's lists.
export const newestIds = (known) => keptIds().filter((id) => !known.has(id)).slice(0, 20);
