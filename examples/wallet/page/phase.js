// Where a swap stands for its user: one phase at a time, with its words, its one button and
// how far it is. It is computed of the status alone and of what this page has just done.
import { show } from './amounts.js';
import { chainName, duration } from './words.js';

export const stepOf = (s, type) => s.steps.find((p) => p.type === type);

// unused reports that no money is in a swap: its quote can be left.
export function unused(s) {
  const first = stepOf(s, 'Setup') ?? stepOf(s, 'Payment');
  return !first || ['awaiting', 'inactive', 'expired', 'soft_expired'].includes(first.status) && !['received', 'confirmed'].includes(stepOf(s, 'Payment')?.status);
}

// asked names what a status asks for; as long as it is the same, what was done about it holds.
export const asked = (s) => s.currentAction && s.currentAction.type !== 'Wait' ? `${s.currentAction.type} ${s.currentAction.name}` : '';

const kinds = { Quote: 0, Payment: 1, Payout: 2 };

// phase returns { name, title, lead, button, how far in percent, sign, stage }. did is what the
// page does or has done: { doing: 'wallet' or 'sending', sent: what was asked for }; own is what this
// browser keeps of the swap: { dropped: the quote was given up, link: an LNURL pays }.
export function phase(s, did, now, own) {
  const q = s.quote, pay = show(q.inputAmount), get = show(q.outputAmount), a = s.currentAction;
  const from = chainName(q.inputAmount.chain), to = chainName(q.outputAmount.chain);
  if (s.isFinished) {
    if (s.isSuccess) return { name: 'received', title: `${get} received`, lead: `Paid out on ${to}. The swap is complete.`, button: 'Start another swap', far: 100, sign: 'check', stage: 3 };
    if (stepOf(s, 'Refund')?.status === 'refunded') return { name: 'refunded', title: 'Your money is back', lead: `The swap could not be completed, and ${pay} came back to you on ${from}.`, button: 'Try the swap again', far: 100, sign: 'back', stage: 3 };
    if (s.isExpired || unused(s)) return { name: 'expired', title: 'The quote has expired', lead: 'It was not paid in time. No money moved.', button: 'Get a new quote', sign: 'clock', stage: kinds.Quote };
    return { name: 'failed', title: 'The swap was not completed', lead: s.state.description, button: 'Start another swap', sign: 'warn', stage: kinds.Payment };
  }
  const invoice = a?.type === 'SendToAddress' && from === 'Lightning';
  const does = (far) => ({ far: unused(s) ? far : (a?.type === 'SendToAddress' ? 28 : a?.name === 'Settle manually' ? 80 : 60) + far / 5, sign: 'wait', stage: stepOf(s, 'Payment')?.status === 'confirmed' && a?.name !== 'Refund' ? kinds.Payout : kinds.Payment });
  if (did.doing === 'wallet') return { name: 'asking', title: 'Confirm in your wallet', lead: 'Your wallet asks whether you want to sign. Nothing is sent before you do.', ...does(15) };
  if (did.doing === 'sending') return { name: 'sending', title: 'Sending…', lead: invoice ? 'Your payment is on its way.' : 'What you signed is on its way.', ...does(25) };
  if (did.sent && did.sent === asked(s)) return { name: 'sent', title: 'Sent', lead: `Waiting until ${invoice ? 'the provider' : 'the network'} sees it. You need not do anything.`, ...does(35) };
  if (unused(s)) {
    if (own?.dropped) return { name: 'dropped', title: 'This quote was replaced', lead: 'You changed the swap after this quote, so it cannot be paid from here any more.', button: 'Back to the form', sign: 'clock', stage: kinds.Quote };
    if (now >= q.expiry || s.steps.some((p) => ['expired', 'soft_expired'].includes(p.status))) return { name: 'late', title: 'The quote has expired', lead: 'Do not pay it any more. If you have paid already, the swap goes on by itself and is shown here.', button: 'Get a new quote', sign: 'clock', stage: kinds.Quote };
  }
  if (s.isFailed && !a) return { name: 'over', title: 'Too late to go on', lead: s.state.description, sign: 'warn', stage: kinds.Payment };
  if (!a || a.type === 'Wait') return waiting(s, a, pay, get, from, to, own);
  if (a.type === 'SendToAddress') {
    const lightning = a.chain === 'LIGHTNING';
    const until = new Date(q.expiry).toLocaleTimeString('en', { hour: '2-digit', minute: '2-digit', hour12: false });
    return { name: 'deposit', title: lightning ? `Pay ${pay}` : `Send ${pay}`, lead: lightning ? `Once, exactly this amount, until ${until}. From any Lightning wallet.` : `Once, exactly this amount, in one output${unused(s) ? `, until ${until}` : ', and soon: the address is good for a limited time'}. From any Bitcoin wallet.`,
      button: lightning && own?.link ? 'Let the link pay' : `${lightning ? 'Pay' : 'Send'} ${pay}`, stage: kinds.Payment, far: unused(s) ? undefined : 30 };
  }
  if (a.name === 'Refund') return { name: 'refund', title: 'Take your money back', lead: `The provider did not pay, so ${pay} is still yours. Sign once, and it comes back on ${from}.`, button: 'Sign and take it back', far: 60, sign: 'back', stage: kinds.Payment };
  if (a.name === 'Settle manually') return { name: 'claim', title: `Claim ${get}`, lead: `Your payment has arrived. One signature on ${to} pays the tokens out to you. Do not wait: it is possible for a limited time.`, button: 'Sign and claim', far: 80, sign: 'ready', stage: kinds.Payout };
  if (from === 'Lightning') return { name: 'claim', title: `Claim ${get}`, lead: `Your payment has arrived. The first signature on ${to} opens the escrow that pays you, the next one takes the tokens out of it. Do not wait: it is possible for a limited time.`, button: 'Sign and claim', far: 60, sign: 'ready', stage: kinds.Payout };
  if (stepOf(s, 'Setup')) return { name: 'sign', title: `Pay ${pay}, receive ${get}`, lead: `One signature on ${to} opens the swap. Then you get the address to pay to on ${from}.`, button: 'Sign and open the swap', stage: kinds.Quote };
  return { name: 'sign', title: `Pay ${pay}, receive ${get}`, lead: from === 'Bitcoin' ? 'Check the amounts, then sign. The same transaction binds the provider’s vault to pay you.' : 'Check the amounts, then sign. What you pay waits in an escrow: the provider gets it only when you are paid.', button: 'Sign and pay', stage: kinds.Quote };
}

// waiting says what a swap waits for.
function waiting(s, a, pay, get, from, to, own) {
  const p = stepOf(s, 'Payment'), d = stepOf(s, 'Settlement'), c = p?.confirmations;
  const time = a?.expectedTimeSeconds > 0 ? ` About ${duration(a.expectedTimeSeconds)}.` : '';
  const safe = from === 'Lightning' && !own?.link ? own ? 'Keep the page open: only this browser knows the secret that pays you.' : 'The browser that asked for the swap goes on with it.' : 'You may close the page: the swap goes on.';
  if (!p || unused(s)) return { name: 'progress', title: 'Getting ready', lead: `The swap is being prepared.${time}`, far: 20, sign: 'wait', stage: kinds.Quote };
  if (p.status === 'inactive' || p.status === 'awaiting') return { name: 'progress', title: 'The swap is opened', lead: `Do not pay yet: the address comes as soon as the opening is final.${time}`, far: 25, sign: 'wait', stage: kinds.Payment };
  if (c && c.current < c.target) {
    const eta = c.etaSeconds > 0 ? ` About ${duration(c.etaSeconds)}.` : '';
    return { name: 'progress', title: `${pay} seen on ${from}`, lead: `${c.current} of ${c.target} ${c.target === 1 ? 'confirmation' : 'confirmations'}.${eta} ${safe}`, far: 40 + Math.round(30 * c.current / c.target), sign: 'wait', stage: kinds.Payment };
  }
  if (d?.status === 'soft_settled') return { name: 'progress', title: `${get} paid out`, lead: `On its way on ${to}, not confirmed yet. ${safe}`, far: 90, sign: 'wait', stage: kinds.Payout };
  if (d?.status === 'inactive' && p.status === 'received') return { name: 'progress', title: `${pay} seen on ${from}`, lead: `Waiting until it is confirmed.${time} ${safe}`, far: 45, sign: 'wait', stage: kinds.Payment };
  return { name: 'progress', title: `${get} is on its way`, lead: `Your payment has arrived; the payout on ${to} is under way.${time} ${safe}`, far: 75, sign: 'wait', stage: kinds.Payout };
}
