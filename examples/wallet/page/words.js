// The words of the page: names of chains, steps of a swap and errors, as a reader would say them.
import { number, trim } from './amounts.js';
import { copyable, make } from './dom.js';

export const chainName = (id) => ({ BITCOIN: 'Bitcoin', LIGHTNING: 'Lightning' })[id] ?? id.charAt(0) + id.slice(1).toLowerCase();

// networks are names of EVM chains, by their number, as wallets show them.
const networks = {
  1: 'Ethereum', 10: 'OP Mainnet', 56: 'BNB Smart Chain', 100: 'Gnosis', 137: 'Polygon', 324: 'ZKsync', 8453: 'Base', 42161: 'Arbitrum One', 43114: 'Avalanche', 59144: 'Linea',
  11155111: 'Sepolia', 17000: 'Holesky', 560048: 'Hoodi',
};

// networkName is what a chain with a number is called, '' if that is not known. The page's own chains come first.
export function networkName(chainId, chains) {
  return Object.values(chains).find((c) => BigInt(c.chainId) === BigInt(chainId))?.chainName ?? networks[BigInt(chainId)] ?? '';
}

// deposits are the types of swaps whose opening locks a security deposit of the user.
const deposits = ['FROM_BTC', 'FROM_BTCLN'];
export const hasDeposit = (s) => deposits.includes(s.swapType);

// duration writes seconds for people.
export function duration(seconds) {
  if (seconds < 90) return `${Math.max(1, Math.round(seconds / 5) * 5)} seconds`;
  if (seconds < 90 * 60) return `${Math.round(seconds / 60)} minutes`;
  return `${Math.round(seconds / 3600)} hours`;
}

// takes says how long a swap between two chains takes, once it is paid. A Bitcoin block comes
// every ten minutes; providers want one to three confirmations.
export function takes(from, to) {
  if (from === 'BITCOIN') return '10 to 40 minutes';
  if (to === 'BITCOIN') return 'a minute, then confirmations';
  return 'less than a minute';
}

// step says what a step of a swap is, and how it stands: "done", "now", "next" or "bad".
export function step(p, s) {
  const paid = `${number(s.quote.inputAmount.rawAmount, s.quote.inputAmount.decimals, s.quote.inputAmount.symbol)} ${s.quote.inputAmount.symbol}`;
  const got = `${number(s.quote.outputAmount.rawAmount, s.quote.outputAmount.decimals, s.quote.outputAmount.symbol)} ${s.quote.outputAmount.symbol}`;
  const on = chainName(p.chain), c = p.confirmations;
  const count = c ? `${Math.min(c.current, c.target)} of ${c.target} ${c.target === 1 ? 'confirmation' : 'confirmations'}` : '';
  const table = {
    Setup: {
      awaiting: ['now', `Open the swap on ${on}`], completed: ['done', `Opened on ${on}`],
      soft_expired: ['bad', 'Not opened in time'], expired: ['bad', 'Not opened in time'],
    },
    Payment: {
      inactive: ['next', `Pay ${paid} on ${on}`], awaiting: ['now', `Pay ${paid} on ${on}`],
      received: [s.steps.some((x) => x.type === 'Settlement' && x.status !== 'inactive') ? 'done' : 'now', `${paid} seen on ${on}`, count], confirmed: ['done', `${paid} paid on ${on}`, c && c.current < c.target ? count : ''],
      soft_expired: ['bad', 'Not paid in time'],
      expired: ['bad', p.chain === 'LIGHTNING' && s.steps.some((x) => x.type === 'Settlement' && x.status === 'expired') ? `${paid} goes back on ${on}` : s.isFailed && s.isFinished ? 'Not paid' : 'Not paid in time'],
    },
    Settlement: {
      inactive: ['next', `Receive ${got} on ${on}`], waiting_lp: ['now', `${got} on ${on}`, 'the provider prepares the payout'],
      awaiting_automatic: ['now', `${got} on ${on}`, 'is being paid out'], awaiting_manual: ['now', `${got} on ${on}`, 'is ready to be claimed'],
      soft_settled: ['now', `${got} on ${on}`, 'paid out, not confirmed yet'], settled: ['done', `${got} received on ${on}`],
      soft_expired: ['bad', 'Not paid out'], expired: ['bad', 'Not paid out'],
    },
    Refund: {
      awaiting: ['now', `${paid} comes back on ${on}`], refunded: ['done', `${paid} came back on ${on}`],
    },
  };
  const [how, title, detail] = table[p.type]?.[p.status] ?? ['next', p.title];
  return { how, title, detail };
}

// told writes a sentence of package verify for readers: tokens by their ticker, times of this
// place, and long addresses shortened, which a click copies whole.
export function told(sentence) {
  const plainly = sentence.replace(/\b(\d+(?:\.\d+)?) (?:BTC-LN|(?:[A-Z0-9]+-)?([A-Z0-9]+))\b/g, (_, n, ticker = 'BTC') => `${trim(n)}\u00a0${ticker}`)
    .replace(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, (at) => moment(new Date(at)));
  return plainly.split(/(\b[A-Za-z0-9]{26,}[.,]?)/).map((part, i) => i % 2 ? make('span', { class: 'kept' }, copyable('address', part.replace(/[.,]$/, '')), part.match(/[.,]$/)?.[0]) : part);
}

// moment writes a time of today, or of another day.
export function moment(at) {
  const time = at.toLocaleTimeString('en', { hour: '2-digit', minute: '2-digit', hour12: false });
  return at.toDateString() === new Date().toDateString() ? time : `${time} on ${at.toLocaleDateString('en', { day: 'numeric', month: 'long' })}`;
}

// hindrances are what keeps an action from being built, by what the service says of it; with true, those after which
// a swap cannot be paid, or claimed, any more.
const hindrances = [
  [/output of the vault/, 'The provider’s vault has been taken by another swap meanwhile.', true],
  [/paying it twice/, 'Another swap pays this invoice or has paid it. Paying it twice would lose one payment.', true],
  [/same payment hash/, 'Another swap has an invoice of the same secret, so this one is not safe to pay.', true],
  [/takes no payment/, 'The provider takes no payment for it any more.', true],
  [/too little time/, 'Too little time would be left to complete the swap safely.', true],
  [/not final yet/, 'The tokens are in the swap contract, but not final yet. The page goes on by itself.'],
];
export const hindrance = (error) => hindrances.find(([what]) => what.test(error))?.[1] ?? sentence(error);
// refundFrom is when a refund is possible that a provider has not agreed to, '' where that is not said.
export const refundFrom = (e) => { const at = /refund is possible from (\S+Z)/.exec(e?.error); return at ? moment(new Date(at[1])) : ''; };
export const hindersForGood = (e) => hindrances.some(([what, , good]) => good && e?.code === 'invalid_state' && what.test(e.error));

// fields are where an error of the service belongs in the form, and how the value is called.
const fields = {
  dstAddress: ['recipient', 'The recipient'], address: ['recipient', 'The recipient'], srcAddress: ['pay', 'The address that pays'],
  amount: [null, 'The amount'], srcToken: ['pay', 'This token'], dstToken: ['receive', 'This token'],
};

// linkFails is said of a Lightning address or a link whose service is the one that fails.
export const linkFails = 'The service of this Lightning address or link does not know it, or does not answer.';
export const linkFailed = (message) => /^(\w+: )?the LNURL service /.test(message);

const sentence = (t) => { t = t.trim(); return t.charAt(0).toUpperCase() + t.slice(1) + (/[.!?]$/.test(t) ? '' : '.'); };

// reason says an error for its reader, and at which field. The token and the side are those
// that fix the amount; asked is that amount in base units.
export function reason(e, { token, side, asked } = {}) {
  const amount = (raw) => `${number(raw, token.decimals, token.ticker)} ${token.ticker}`;
  switch (e.code) {
    case 'amount_out_of_bounds':
      if (token && e.min && asked < BigInt(e.min)) return { field: side, text: `At least ${amount(e.min)}.` };
      if (token && e.max) return { field: side, text: `At most ${amount(e.max)}.` };
      return { field: side, text: 'No provider swaps this amount now. Try another one.' };
    case 'away': return { text: 'The service cannot be reached. The page tries again by itself.' };
    case 'unsupported': return e.field && fields[e.field] ? named(e, side) : { text: 'This pair cannot be swapped now. Choose other tokens.' };
    case 'not_found': return { text: 'There is no such swap.' };
    case 'invalid_state': return { text: 'The swap has moved on: this is no longer possible. What is shown is how it stands now.' };
    case 'upstream':
      if (linkFailed(e.error ?? e.message)) return { field: 'recipient', text: linkFails };
      return { text: 'No provider gave a good quote. Nothing was paid. Try again, or another amount.' };
    case 'timeout': return { text: 'That took too long. Try again: nothing is paid twice.' };
    case 'rate_limited': case 'busy': return { text: `Too many requests at once. Try again in ${e.retryAfter ?? 5} seconds.` };
    case 'internal': return { text: 'The service has a problem of its own. Try again in a while.' };
    case 4001: return { text: 'You declined in your wallet. Nothing was signed or sent. Try again when you are ready.' };
    case -32002: return { text: 'Your wallet still waits for an answer. Open it, and answer there.' };
    case 'invalid_input': return named(e, side);
  }
  return { text: sentence(e.message || 'Something went wrong.') };
}

function named(e, side) {
  const [field, name] = fields[e.field] ?? [null, ''];
  const message = (e.field ? e.error.slice(e.error.indexOf(': ') + 2) : e.error).replace(/^not /, 'is not ');
  return { field: field ?? side, text: sentence(name ? `${name} ${message}` : message) };
}
