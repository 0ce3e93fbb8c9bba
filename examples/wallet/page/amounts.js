// Amounts. They are whole base units (BigInt) wherever something is computed of them; the
// text of an amount has the digits that a reader can use.

// parse reads what was typed as base units; it throws a sentence.
export function parse(typed, decimals) {
  const m = /^(\d*)(?:[.,](\d*))?$/.exec(typed.trim().replaceAll(' ', ''));
  if (!m || !(m[1] || m[2])) throw new Error('Type a number, as in 0.001.');
  const digits = (m[2] ?? '').replace(/0+$/, '');
  if (digits.length > decimals) throw new Error(decimals ? `At most ${decimals} digits after the point.` : 'Type a whole number.');
  const n = BigInt((m[1] || '0') + digits.padEnd(decimals, '0'));
  if (n <= 0n) throw new Error('Type an amount above 0.');
  return n;
}

// plain writes base units as a number without rounding, for a field.
export function plain(raw, decimals) {
  const s = BigInt(raw).toString().padStart(decimals + 1, '0');
  const whole = s.slice(0, s.length - decimals), rest = s.slice(s.length - decimals).replace(/0+$/, '');
  return rest ? `${whole}.${rest}` : whole;
}

const bitcoins = /btc$/i;

// digits is how many digits after the point an amount of a token is shown with.
function digits(symbol, decimals, raw) {
  if (bitcoins.test(symbol)) return Math.min(decimals, 8);
  const whole = raw / 10n ** BigInt(decimals);
  return Math.min(decimals, whole >= 1000n ? 2 : whole >= 1n ? 4 : 6);
}

// cut keeps so many digits after the point and drops zeros at the end.
function cut(text, keep) {
  const [whole, rest = ''] = text.split('.');
  const kept = rest.slice(0, keep).replace(/0+$/, '');
  return kept ? `${whole}.${kept}` : whole;
}

// trim drops zeros at the end of a number.
export const trim = (text) => cut(text, Infinity);

// number writes base units for reading: 0.00049783, 1 234.5.
export function number(raw, decimals, symbol) {
  raw = BigInt(raw);
  if (raw / 10n ** BigInt(decimals) >= 10n ** 12n) return 'over a trillion';
  const [whole, rest] = cut(plain(raw, decimals), digits(symbol, decimals, raw)).split('.');
  if (whole === '0' && !rest && raw > 0n) return `under ${cut(plain(10n ** BigInt(decimals - digits(symbol, decimals, raw)), decimals), decimals)}`;
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, '\u202f');
  return rest ? `${grouped}.${rest}` : grouped;
}

// show writes an amount of the API with its token.
export const show = (a) => `${number(a.rawAmount, a.decimals, a.symbol)} ${a.symbol}`;

// Values in a currency are for reading alone, so they are floating point numbers.
let rates = null;

export function setRates(r) { rates = r; }
export const source = () => rates?.source ?? '';

export const currencies = ['USD', 'BTC', 'sats'];
let currency = currencies[0];

export function setCurrency(c) { currency = c; }

// value writes what base units of a token are worth in the chosen currency, '' if it is not known.
export function value(raw, token) {
  const price = rates?.microSats[token.id];
  if (!price) return '';
  const sats = Number(raw) / 10 ** token.decimals * Number(price) / 1e6;
  if (currency === 'sats') return `${Math.round(sats).toLocaleString('en')} sats`;
  if (currency === 'BTC') return `${cut((sats / 1e8).toFixed(8), 8)} BTC`;
  const dollars = sats * rates.usdPerSat;
  return dollars > 0 && dollars < 0.01 ? 'under $0.01' : dollars.toLocaleString('en', { style: 'currency', currency: 'USD' });
}

// convert is what base units of one token are worth in those of another at the market's
// price, before any fee; null if it is not known.
export function convert(raw, from, to) {
  const a = rates?.microSats[from.id], b = rates?.microSats[to.id];
  if (!a || !b) return null;
  return raw * BigInt(a) * 10n ** BigInt(to.decimals) / (BigInt(b) * 10n ** BigInt(from.decimals));
}

// rate writes what one token is in another, the larger number of both ways.
export function rate(rawIn, input, rawOut, output) {
  const one = (r, of, s, to) => Number(s) / 10 ** to.decimals / (Number(r) / 10 ** of.decimals);
  let x = one(rawIn, input, rawOut, output), a = input.ticker, b = output.ticker;
  if (x < 0.5) [x, a, b] = [1 / x, b, a];
  const places = x >= 1000 ? 0 : x >= 10 ? 2 : bitcoins.test(b) ? 5 : 4;
  return `1 ${a} ≈ ${x.toLocaleString('en', { maximumFractionDigits: places }).replaceAll(',', '\u202f')} ${b}`;
}
