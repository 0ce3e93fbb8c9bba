// Where a swap stands for its user: one phase at a time, with its words, its one button and
// how far it is. It is computed of the status alone and of what this page has just done.
import { show } from './amounts.js';
import { chainName, duration, hindersForGood, refundFrom } from './words.js';

export const stepOf = (s, type) => s.steps.find((p) => p.type === type);

// unused reports that no money is in a swap: its quote can be left.
export function unused(s) {
  const first = stepOf(s, 'Setup') ?? stepOf(s, 'Payment');
  return !first || ['awaiting', 'inactive', 'expired', 'soft_expired'].includes(first.status) && !['received', 'confirmed'].includes(stepOf(s, 'Payment')?.status) && !lost(s);
}

// lost reports that a swap was paid, or its escrow opened, and is not paid out.
export const lost = (s) => stepOf(s, 'Settlement')?.status === 'expired';

// returns is what becomes of a Lightning payment that was held for a swap that ends.
const returns = 'A Lightning payment that was held goes back to the wallet that sent it.';

// failure says why a swap that has ended was not completed.
function failure(s) {
  const paid = stepOf(s, 'Payment')?.status !== 'expired';
  switch (`${s.swapType} ${s.state.name}`) {
    case 'FROM_BTCLN FAILED': case 'FROM_BTCLN_AUTO FAILED': return `The tokens were not claimed in time, so the provider took them back. ${returns}`;
    case 'FROM_BTC FAILED': return paid ? 'The provider took its tokens back before your payment was proven. Only the provider can return the payment.' : 'The bitcoin was not paid in time, so the provider took its tokens back, and keeps the security deposit.';
    case 'SPV_VAULT_FROM_BTC CLOSED': return 'The provider’s vault closed because of this payment, so nothing is paid out.';
    case 'SPV_VAULT_FROM_BTC FAILED': return 'Another transaction has spent the bitcoin that you signed for this swap. Nothing was paid to the provider.';
    case 'SPV_VAULT_FROM_BTC DECLINED': return 'The provider did not take the transaction that you signed. It could still send it: spend the same bitcoin otherwise before you pay again.';
  }
  return s.state.description;
}

// asked names what a status asks for; as long as it is the same, what was done about it holds.
export const asked = (s) => s.currentAction && s.currentAction.type !== 'Wait' ? `${s.currentAction.type} ${s.currentAction.name}` : '';

const kinds = { Quote: 0, Payment: 1, Payout: 2 };

// phase returns { name, title, lead, button, how far in percent, sign, stage }. did is what the
// page does or has done: { doing: 'wallet' or 'sending', sent: what was asked for }; own is what this
// browser keeps of the swap: { dropped: the quote was given up, link: an LNURL pays }; elsewhere says that
// the wallet that signs is on another network: { on, number, to }, of wallets.js.
export function phase(s, did, now, own, elsewhere) {
  const q = s.quote, pay = show(q.inputAmount), get = show(q.outputAmount), a = s.currentAction;
  const from = chainName(q.inputAmount.chain), to = chainName(q.outputAmount.chain);
  if (s.isFinished) {
    if (s.isSuccess) return { name: 'received', title: `${get} received`, lead: `Paid out on ${to}. The swap is complete.`, button: 'Start another swap', far: 100, sign: 'check', stage: 3 };
    if (stepOf(s, 'Refund')?.status === 'refunded') return { name: 'refunded', title: 'Your money is back', lead: `The swap could not be completed, and ${pay} came back to you on ${from}.`, button: 'Try the swap again', far: 100, sign: 'back', stage: 3 };
    if (!s.isFailed && (s.isExpired || unused(s))) return { name: 'expired', title: 'The quote has expired', lead: lost(s) ? `The swap was not opened in time. ${returns}` : 'It was not paid in time. No money moved.', button: 'Get a new quote', sign: 'clock', stage: kinds.Quote };
    return { name: 'failed', title: 'The swap was not completed', lead: failure(s), button: 'Start another swap', sign: 'warn', stage: kinds.Payment };
  }
  const acts = acting(s, a), pays = a?.type === 'SendToAddress' && from === 'Lightning';
  if (did.doing === 'switching') return { ...acts(0), name: 'switching', title: 'Confirm in your wallet', lead: `Your wallet asks whether you want to switch to ${did.to}. Switching signs and pays nothing.`, sign: 'wait' };
  if (did.doing === 'wallet' && elsewhere) return { ...acts(0), name: 'asking', title: `Your wallet has changed to ${elsewhere.on || 'another network'}`, lead: `If it still asks you to confirm, decline there. Then you can switch back to ${elsewhere.to}.`, sign: 'switch' };
  if (did.doing === 'wallet') return { ...acts(0), name: 'asking', title: 'Confirm in your wallet', lead: 'Your wallet asks whether you want to sign. Nothing is sent before you do.', sign: 'wait' };
  if (did.doing === 'sending') return { ...acts(1), name: 'sending', title: 'Sending…', lead: pays ? 'Your payment is on its way.' : 'What you signed is on its way.', sign: 'wait' };
  if (did.sent && did.sent === asked(s)) return { ...acts(2), name: 'sent', title: 'Sent', lead: `Waiting until ${pays ? 'the provider' : 'the network'} sees it. You need not do anything.`, sign: 'wait' };
  if (unused(s)) {
    if (own?.dropped) return { name: 'dropped', title: 'This quote was replaced', lead: 'You changed the swap after this quote, so it cannot be paid from here any more.', button: 'Back to the form', sign: 'clock', stage: kinds.Quote };
    if (a?.type !== 'Wait' && now >= q.expiry || s.steps.some((p) => ['expired', 'soft_expired'].includes(p.status))) return { name: 'late', title: 'The quote has expired', lead: 'Do not pay it any more. If you have paid already, the swap goes on by itself and is shown here.', button: 'Get a new quote', sign: 'clock', stage: kinds.Quote };
  }
  const stuck = !a && hindersForGood(s.actionError);
  if (unused(s) && stuck) return { name: 'late', title: 'This quote cannot be paid any more', lead: 'Nothing was paid here. Get a new one for the same amounts.', button: 'Get a new quote', sign: 'clock', stage: kinds.Quote };
  if (from === 'Lightning' && !a && (s.isFailed || stuck || stepOf(s, 'Settlement')?.status === 'soft_expired')) return { name: 'over', title: 'Too late to claim', lead: `Too little time is left to claim ${get} safely. Your payment goes back to the Lightning wallet that sent it.`, sign: 'warn', stage: kinds.Payment };
  if (s.isFailed && !a) return { name: 'over', title: 'Too late to pay', lead: 'Do not pay any more. If you have paid already, the payment is shown here once it is seen, and may still complete the swap.', sign: 'warn', stage: kinds.Payment };
  if (!a || a.type === 'Wait') return waiting(s, a, pay, get, from, to, own);
  if (a.type === 'SendToAddress') {
    const lightning = a.chain === 'LIGHTNING';
    const until = new Date(q.expiry).toLocaleTimeString('en', { hour: '2-digit', minute: '2-digit', hour12: false });
    return { name: 'deposit', title: lightning ? `Pay ${pay}` : `Send ${pay}`, lead: lightning ? `Once, exactly this amount, until ${until}. From any Lightning wallet.` : `Once, exactly this amount, in one output${unused(s) ? `, until ${until}` : ', and soon: the address is good for a limited time'}. From any Bitcoin wallet.`,
      button: lightning && own?.link ? 'Let the link pay' : `${lightning ? 'Pay' : 'Send'} ${pay}`, stage: kinds.Payment, far: unused(s) ? undefined : 30 };
  }
  if (elsewhere) return moved(a, elsewhere, pay, get);
  if (a.name === 'Refund') return { name: 'refund', title: 'Take your money back', lead: `The provider did not pay, so ${pay} is still yours. Sign once, and it comes back on ${from}.`, button: 'Sign and take it back', far: 60, sign: 'back', stage: kinds.Payment };
  if (a.name === 'Settle manually' && lost(s)) return { name: 'claim', title: `Last chance to claim ${get}`, lead: 'Little time is left. If the claim comes in time, the tokens are paid out; if it does not, the payment, the tokens and the security deposit are lost. Without a claim you lose the deposit alone, and the payment goes back to its wallet.', button: 'Sign and claim at this risk', far: 70, sign: 'warn', stage: kinds.Payout };
  if (a.name === 'Settle manually') return { name: 'claim', title: `Claim ${get}`, lead: `Your payment has arrived. One signature on ${to} pays the tokens out to you. Do not wait: it is possible for a limited time.`, button: 'Sign and claim', far: 70, sign: 'ready', stage: kinds.Payout };
  if (from === 'Lightning') return { name: 'claim', title: `Claim ${get}`, lead: `Your payment has arrived. The first signature on ${to} opens the escrow that pays you, the next one takes the tokens out of it. Do not wait: it is possible for a limited time.`, button: 'Sign and claim', far: 60, sign: 'ready', stage: kinds.Payout };
  if (stepOf(s, 'Setup')) return { name: 'sign', title: `Pay ${pay}, receive ${get}`, lead: `One signature on ${to} opens the swap. Then you get the address to pay to on ${from}.`, button: 'Sign and open the swap', stage: kinds.Quote };
  return { name: 'sign', title: `Pay ${pay}, receive ${get}`, lead: from === 'Bitcoin' ? 'Check the amounts, then sign. The same transaction binds the provider’s vault to pay you.' : 'Check the amounts, then sign. What you pay waits in an escrow: the provider gets it only when you are paid.', button: 'Sign and pay', stage: kinds.Quote };
}

// acting is how far a swap is while its user acts, in the order asking, sending, sent: never less far than before.
function acting(s, a) {
  const claims = !unused(s) && a?.type === 'SignSmartChainTransaction' && a.name !== 'Refund';
  const [stage, far] = claims ? [kinds.Payout, [70, 72, 74]] : a?.name === 'Refund' ? [kinds.Payment, [60, 65, 70]] : [kinds.Payment, unused(s) ? [15, 25, 35] : [30, 33, 36]];
  return (i) => ({ stage, far: far[i] });
}

// moved asks the wallet onto the network of the swap.
function moved(a, { on, number, to }, pay, get) {
  const what = { Refund: `take ${pay} back`, 'Settle manually': `claim ${get}` }[a.name] ?? `pay ${pay}`;
  return { name: 'elsewhere', title: `Your wallet is on ${on || 'another network'}`, lead: `${on ? '' : `It is a network that this page does not know, with the number ${number}. `}To ${what}, your wallet has to be on ${to}. Switching signs and pays nothing.`,
    button: `Switch to ${to}`, far: { Refund: 60, 'Settle manually': 70 }[a.name], sign: 'switch', stage: { Refund: kinds.Payment, 'Settle manually': kinds.Payout }[a.name] ?? kinds.Quote };
}

const latest = (e) => (refundFrom(e) ? `at the latest at ${refundFrom(e)}, ` : '');

// waiting says what a swap waits for.
function waiting(s, a, pay, get, from, to, own) {
  const p = stepOf(s, 'Payment'), d = stepOf(s, 'Settlement'), c = p?.confirmations;
  const time = a?.expectedTimeSeconds > 0 ? ` About ${duration(a.expectedTimeSeconds)}.` : '';
  const safe = from === 'Lightning' && !own?.link ? own ? 'Keep the page open: only this browser knows the secret that pays you.' : 'The browser that asked for the swap goes on with it.' : 'You may close the page: the swap goes on.';
  if (stepOf(s, 'Refund')?.status === 'awaiting') return { name: 'progress', title: `${pay} comes back`, lead: a ? `The provider did not pay. As soon as you can take your money back, ${latest(s.actionError)}the page asks you to sign.` : 'What you signed is on its way. You need not do anything.', far: 70, sign: 'back', stage: kinds.Payment };
  if (!p || unused(s)) return s.actionError ? { name: 'progress', title: 'Please wait', lead: 'There is nothing to pay or sign at the moment.', far: 20, sign: 'wait', stage: kinds.Quote }
    : { name: 'progress', title: 'Sent', lead: `Waiting until the network sees what you signed. You need not do anything.${time}`, far: 35, sign: 'wait', stage: kinds.Payment };
  if (p.status === 'inactive' || p.status === 'awaiting') return { name: 'progress', title: 'The swap is opened', lead: `Do not pay yet: the address comes as soon as the opening is final.${time}`, far: 25, sign: 'wait', stage: kinds.Payment };
  if (c && c.current < c.target) {
    const eta = c.etaSeconds > 0 ? ` About ${duration(c.etaSeconds)}.` : '';
    return { name: 'progress', title: `${pay} seen on ${from}`, lead: `${c.current} of ${c.target} ${c.target === 1 ? 'confirmation' : 'confirmations'}.${eta} ${safe}`, far: 40 + Math.round(30 * c.current / c.target), sign: 'wait', stage: kinds.Payment };
  }
  if (d?.status === 'soft_settled') return { name: 'progress', title: `${get} paid out`, lead: `On its way on ${to}, not confirmed yet. ${safe}`, far: 90, sign: 'wait', stage: kinds.Payout };
  if (d?.status === 'inactive' && p.status === 'received') return { name: 'progress', title: `${pay} seen on ${from}`, lead: `Waiting until it is confirmed.${time} ${safe}`, far: 45, sign: 'wait', stage: kinds.Payment };
  return { name: 'progress', title: `${get} is on its way`, lead: `Your payment has arrived; the payout on ${to} is under way.${time} ${safe}`, far: 75, sign: 'wait', stage: kinds.Payout };
}
