// What a wallet in node does with the package; TestNode starts it with facts of a local network.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const facts = JSON.parse(readFileSync(0, 'utf8'));
const { load, memory, RefusedError } = await import(pathToFileURL(facts.package));
const { evm, solana, starknet, bitcoin } = facts.network;
const ahead = facts.now - Date.now();
const config = {
  service: facts.service, network: 'regtest', lnurl: { allowLocal: true }, bitcoin: [bitcoin.rest], now: () => Date.now() + ahead, prices: async (token) => (token.endsWith('WBTC') ? '100000000000000' : null),
  chains: {
    [evm.chain]: { rpc: [evm.rpc], network: evm.network, tokens: evm.listed },
    [starknet.chain]: { rpc: [starknet.rpc], network: starknet.network, tokens: starknet.listed },
    [solana.chain]: { rpc: [solana.rpc], version: solana.programVersion, tokens: solana.listed,
      network: { bitcoin: evm.network.Bitcoin, genesis: solana.genesis, deployments: Object.entries(solana.programs).map(([version, p]) => ({ version, swapProgram: p.swapProgram, btcRelay: p.btcRelay })) } },
  },
};

const refused = (what, says) => assert.rejects(what, (e) => e instanceof RefusedError && says.test(`${e.code} ${e.message}`) || assert.fail(`${e.name} ${e.code} ${e.message}, want ${says}`));

async function ask(operation, input) {
  const answer = await fetch(`${facts.service}/${operation}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(input) });
  assert.equal(answer.status, 200, await answer.clone().text());
  return answer.json();
}

const store = memory();
const verifier = await load({ ...config, store });
config.wasm = await WebAssembly.compile(readFileSync(new URL('verify.wasm', pathToFileURL(facts.package)))); // once for all of the others
for (const { Chain: chain, Address: address, Invoices: [invoice, own, other] } of facts.wallets) {
  const send = (to) => ({ srcToken: `${chain}-WBTC`, dstToken: 'LIGHTNING-BTC', amount: '50000', amountType: 'EXACT_OUT', srcAddress: address, dstAddress: to });

  // Answers that the wallet has already.
  const request = send(invoice), swap = await ask('createSwap', request);
  const { currentAction: action } = await ask('getSwapStatus', { swapId: swap.swapId, swapKey: swap.swapKey });
  const agreed = await verifier.verify(request, swap);
  assert.equal(agreed.quote.outputAddress, invoice);
  const verified = await verifier.verify(request, swap, action);
  assert.match(verified.currentAction.description, new RegExp(`^Pays 0\\.0005\\d+ ${chain}-WBTC into the swap contract, .* to ${invoice}, or back to ${address}, at the latest from `));
  assert.ok(verified.currentAction.txs.length > 0);
  await refused(verifier.verify(send(own), swap, action), /^upstream .*another request/);
  await refused(verifier.verify(request, { ...swap, quote: { ...swap.quote, outputAddress: own } }, action), /^upstream .*quote\.outputAddress/);
  await refused(verifier.verify(request, { ...swap, quote: { ...swap.quote, inputAmount: { ...swap.quote.inputAmount, rawAmount: '60000' } } }, action), /^upstream .*quote\.inputAmount/);

  // A swap whose transactions pay somebody else.
  const theirs = await ask('createSwap', send(other));
  const { currentAction: stolen } = await ask('getSwapStatus', { swapId: theirs.swapId, swapKey: theirs.swapKey });
  await refused(verifier.verify(request, swap, stolen), /^upstream /);
  await refused(verifier.verify(send(own), { ...theirs, quote: { ...theirs.quote, outputAddress: own } }, stolen), /^upstream .*currentAction\.txs/);

  if (chain === 'SOLANA') continue; // the user opens the escrow there, with another action
  // Through the verifier; what was agreed on outlives it.
  const received = await verifier.call('createSwap', { srcToken: 'LIGHTNING-BTC', dstToken: `${chain}-WBTC`, amount: '50000', amountType: 'EXACT_IN', dstAddress: address });
  const again = await load({ ...config, store });
  const status = await again.call('getSwapStatus', { swapId: received.swapId });
  assert.match(status.currentAction.description, /^Pays 0\.0005\d* .* over Lightning\. The payment is held until the wallet's own nodes show /);
  assert.match(status.currentAction.txs[0].address, /^lnbcrt500u/);
}
const tokens = await verifier.call('getSupportedTokens', { side: 'INPUT' });
assert.ok(tokens.some((t) => t.id === 'CITREA-WBTC'));

// What the wallet gives is wrong, throws, or never comes.
const { Chain: chain, Address: address } = facts.wallets[0];
const receive = { srcToken: 'LIGHTNING-BTC', dstToken: `${chain}-WBTC`, amount: '50000', amountType: 'EXACT_IN', dstAddress: address };
await refused(verifier.call('createSwap', { ...receive, amount: 'x' }), /^invalid_input amount/);
await refused(verifier.call('getSwapStatus', { swapId: 'of another wallet' }), /^not_found /);
await refused(load({ ...config, service: 'nowhere' }), /^invalid_input base/);
await refused(load({ ...config, chains: { DOGE: { rpc: ['http://127.0.0.1:1'] } } }), /^invalid_input chains\.DOGE: DOGE is not a chain of this build/);
for (const [wrong, says] of [
  [{ maxTrustedSat: 1 }, /^invalid_input maxTrustedSat: is not known/],
  [{ maxTrustedSats: -1 }, /^invalid_input maxTrustedSats: must not be negative/],
  [{ maxTrustedSats: '1000' }, /^invalid_input maxTrustedSats: must be a whole number, got string/],
  [{ noBitcoin: 1 }, /^invalid_input noBitcoin: must be true or false, got number/],
  [{ noBitcoin: true }, /^invalid_input noBitcoin: cannot be set beside a Bitcoin backend/],
  [{ policy: { maxFeePPM: 'all' } }, /^invalid_input policy\.maxFeePPM: must be a whole number, got string/],
  [{ policy: 1 }, /^invalid_input policy: must be an object, got number/],
  [{ lnurl: { allowHidden: true } }, /^invalid_input lnurl\.allowHidden: is not known/],
  [{ headers: { authorization: 1 } }, /^invalid_input headers: must be a string, got number/],
  [{ bitcoin: [1] }, /^invalid_input bitcoin\[0\]: must be a string, got number/],
].map(([wrong, says]) => [{ ...config, ...wrong }, says]).concat([
  ...[evm, solana, starknet].flatMap(({ chain }) => [[chain, { rcp: [] }, 'rcp: is not known'], [chain, { network: { Finalty: 1 } }, 'network.Finalty: is not known']]),
  [evm.chain, { rpc: 'https://node.example' }, 'rpc: must be an array, got string'],
  [starknet.chain, { rpc: [null, 1] }, 'rpc[1]: must be a string, got number'],
  [evm.chain, { tokens: [{ Tickr: 'WBTC' }] }, 'tokens[0].Tickr: is not known'],
  [starknet.chain, { network: 'mainnet' }, 'network: must be an object, got string'],
  [solana.chain, { network: { bitcoin: 'dogecoin' } }, 'network.bitcoin: '],
  [evm.chain, { version: 'v1' }, 'version: is not known'],
  [evm.chain, { network: { ...evm.network, ChainID: '5115' } }, 'network.ChainID: must be a whole number from 0, got string'],
  [evm.chain, { network: { ...evm.network, WrappedNative: '0x00' } }, 'network.WrappedNative: '],
  [evm.chain, { network: { Deployments: [{}, { Swap: 1 }] } }, 'network.Deployments[1].Swap: is not known'],
  [solana.chain, { version: 1 }, 'version: must be a string, got number'],
  [solana.chain, { network: { deployments: [{ programme: '' }] } }, 'network.deployments[0].programme: is not known'],
].map(([chain, wrong, says]) => [{ ...config, chains: { [chain]: { ...config.chains[chain], ...wrong } } }, new RegExp(`^invalid_input chains\\.${chain}\\.${says.replace(/[.[\]]/g, '\\$&')}`)]))
  .filter((_, n) => facts.full || n % 7 === 0)) await refused(load(wrong), says); // each starts the program anew

// A wallet without a Bitcoin backend, and one that trusts a provider with some sats.
const without = await load({ ...config, bitcoin: undefined, noBitcoin: true });
await refused(without.call('createSwap', { ...receive, srcToken: 'BTC' }), /^unsupported .*no Bitcoin backend/);
assert.ok((await without.call('createSwap', receive)).swapId);
const gas = { srcToken: 'LIGHTNING-BTC', dstToken: `${chain}-CBTC`, amount: '100000000000000', amountType: 'EXACT_OUT', dstAddress: address };
const of = (id, rawAmount, decimals) => ({ amount: '0.0001', rawAmount, decimals, symbol: id.split('-')[1], chain: id.split('-')[0] });
const sold = { swapId: 'gas', swapType: 'TRUSTED_FROM_BTCLN', state: { number: 0, name: 'PR_CREATED', description: '' }, createdAt: config.now(),
  quote: { inputAmount: of(gas.srcToken, '10300', 8), outputAmount: of(gas.dstToken, gas.amount, 18), fees: { swap: of(gas.srcToken, '300', 8) }, expiry: config.now() + 3_600_000, outputAddress: address } };
const trusting = async (maxTrustedSats) => load({ ...config, maxTrustedSats, prices: async () => '100000000000000' });
await refused((await trusting(undefined)).verify(gas, sold), /TRUSTED_FROM_BTCLN/);
await refused((await trusting(10_299)).verify(gas, sold), /10300/);
assert.equal((await (await trusting(10_300)).verify(gas, sold)).swapType, sold.swapType);
const bought = { srcToken: gas.srcToken, chainId: chain, amount: gas.amount, dstAddress: address };
await refused((await trusting(10_299)).verify(bought, sold), /10300/);
assert.equal((await (await trusting(10_300)).verify(bought, sold)).swapType, sold.swapType);
await refused((await trusting(10_300)).verify({ ...bought, amount: '1' }, sold), /quote/);
await refused((await trusting(undefined)).call('createGasSwap', bought), /^unsupported .*MaxTrustedSats/);

// The wallet itself asks the services behind links; the swap service hears of invoices alone.
const heard = [];
let change = (swap) => swap;
const watched = async (url, options) => {
  heard.push(`${url} ${options.body ? Buffer.from(options.body) : ''}`);
  const answer = await fetch(url, options);
  return url.endsWith('/createSwap') && answer.ok ? Response.json(change(await answer.json())) : answer;
};
const links = await load({ ...config, fetch: watched });
assert.ok((await links.call('parseAddress', { address: facts.payLink })).min.rawAmount);
const pay = { srcToken: `${chain}-WBTC`, dstToken: 'LIGHTNING-BTC', amount: '50000', amountType: 'EXACT_OUT', srcAddress: address, dstAddress: facts.payLink };
for (const amountType of ['EXACT_OUT', 'EXACT_IN']) {
  const paid = await links.call('createSwap', { ...pay, amountType, idempotencyKey: amountType });
  assert.match(paid.quote.outputAddress, /^lnbcrt/);
  assert.equal(paid.lnurl.pay, facts.payLink);
  assert.equal((await links.call('createSwap', { ...pay, amountType, idempotencyKey: amountType })).swapId, paid.swapId);
  const { currentAction } = await links.call('getSwapStatus', { swapId: paid.swapId });
  assert.ok(currentAction.description.includes(` to ${paid.quote.outputAddress}, `), currentAction.description);
}
const drawn = await links.call('createSwap', { ...receive, srcAddress: facts.withdrawLink });
assert.match((await links.call('settleWithLnurl', { swapId: drawn.swapId })).paymentHash, /^[0-9a-f]{64}$/);
assert.ok(!heard.some((request) => request.startsWith(facts.service) && [facts.payLink, facts.withdrawLink].some((link) => request.includes(link))));
change = (swap) => ({ ...swap, quote: { ...swap.quote, outputAddress: facts.wallets[0].Invoices[1] } });
await refused(links.call('createSwap', pay), /^upstream .*quote\.outputAddress/);
change = (swap) => swap;
const guarded = await load({ ...config, lnurl: undefined, fetch: watched });
await guarded.call('parseAddress', { address });
heard.length = 0;
for (const hidden of [facts.payLink, ...['localhost', '127.0.0.1:80', '192.168.1.1', '[::1]', 'printer.local', '0x7f.1'].map((host) => `lnurlp://${host}/pay`)]) {
  await refused(guarded.call('parseAddress', { address: hidden }), /^invalid_input .*(not public|https address)/);
}
assert.deepEqual(heard, []);

const broken = () => { throw new Error('broken'); };
for (const part of [{ prices: broken }, { store: { get: broken, set: broken } }, { now: broken }, { fetch: broken }, { prices: async () => 'much' }, { fetch: async () => new Response('no JSON') }].filter((_, n) => facts.full || n % 3 === 0)) {
  const one = await load({ ...config, ...part });
  await refused(one.call('createSwap', receive), /^(upstream|internal) /);
}
if (facts.full) await refused((await load({ ...config, fetch: () => new Promise(() => {}) })).call('createSwap', receive), /^timeout /);

// Nothing that waits for a time keeps node from ending.
assert.deepEqual(process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout'), []);
