// Package verify for wallets in JavaScript. The work is done by verify.wasm; this file starts
// it, in browsers and in node, and hands it what it may use: fetch, a store, prices, a clock.

// RefusedError says why an answer is not accepted, or what went wrong: code, field and bounds
// are those of the service's interface (docs/errors.md).
export class RefusedError extends Error {
  constructor({ error, ...facts }) {
    super(error);
    this.name = 'RefusedError';
    Object.assign(this, facts);
  }
}

// Operations that are asked by POST; the others have few and short inputs.
const posted = new Set(['createSwap', 'createGasSwap', 'getSwapStatus', 'submitTransaction', 'settleWithLnurl']);

// memory is a store that ends with the page.
export function memory() {
  const all = new Map();
  return { get: (name) => all.get(name) ?? null, set: (name, text) => { all.set(name, text); } };
}

// sources are the two files that run: beside this one, unless the configuration says where.
async function sources({ wasm, exec }) {
  const beside = (name) => new URL(name, import.meta.url);
  wasm ??= beside('verify.wasm');
  exec ??= beside('wasm_exec.js');
  if (!globalThis.Go) await import(String(exec));
  if (wasm instanceof WebAssembly.Module) return wasm;
  if (wasm instanceof ArrayBuffer || ArrayBuffer.isView(wasm)) return WebAssembly.compile(wasm);
  if (String(wasm).startsWith('file:')) {
    const { readFile } = await import('node:fs/promises');
    return WebAssembly.compile(await readFile(new URL(wasm)));
  }
  const answer = await fetch(wasm);
  if (!answer.ok) throw new Error(`${wasm} cannot be loaded: HTTP status ${answer.status}`);
  return answer.headers.get('content-type') === 'application/wasm' ? WebAssembly.compileStreaming(answer) : WebAssembly.compile(await answer.arrayBuffer());
}

// load starts a verifier. Nothing is asked of a node or the service yet.
export async function load({ store = memory(), prices, now, fetch: asking = globalThis.fetch.bind(globalThis), wasm, exec, ...config }) {
  const module = await sources({ wasm, exec });
  const go = new globalThis.Go();
  const name = `verify ${crypto.randomUUID()}`;
  go.argv = ['verify', name];
  // The program keeps a timer after its last use: where node would wait for it, it does not
  // while nothing is asked.
  let running = 0;
  const hold = (change) => { running += change; for (const timer of go._scheduledTimeouts.values()) running ? timer.ref?.() : timer.unref?.(); };
  const schedule = go.importObject.gojs['runtime.scheduleTimeoutEvent'];
  go.importObject.gojs['runtime.scheduleTimeoutEvent'] = (sp) => { schedule(sp); hold(0); };
  const instance = await WebAssembly.instantiate(module, go.importObject);
  let open;
  globalThis[name] = (f) => { open = f; };
  const failed = (e) => (e instanceof RefusedError ? e : new RefusedError({ error: `the verifier has failed: ${e.message}`, code: 'internal' }));
  const ended = go.run(instance).then(() => { throw new RefusedError({ error: 'the verifier has failed: load it again', code: 'internal' }); });
  ended.catch(() => {});
  delete globalThis[name];
  const ask = await Promise.race([open(JSON.stringify(config), { fetch: asking, get: store.get.bind(store), set: store.set.bind(store), prices, now }), ended])
    .catch((e) => { throw e instanceof RefusedError ? e : new RefusedError({ error: e.message, code: 'invalid_input' }); });

  async function request(operation, input = {}, given) {
    const defined = Object.entries(input).filter(([, v]) => v !== undefined && v !== null);
    const post = posted.has(operation);
    const query = post ? '' : `?${new URLSearchParams(defined.map(([k, v]) => [k, String(v)]))}`;
    const body = post ? JSON.stringify(Object.fromEntries(defined)) : '';
    const asks = async () => ask(post ? 'POST' : 'GET', operation + query, body, given && JSON.stringify(given)); // throws if the program ends meanwhile
    hold(1);
    const [status, text] = await Promise.race([ended, go.exited ? ended : asks()]).catch((e) => { throw failed(e); }).finally(() => hold(-1));
    const value = JSON.parse(text);
    if (status !== 200) throw new RefusedError(value);
    return value;
  }

  // What was asked for is kept beside what was agreed on, so that a swap of one request is
  // not taken for that of another.
  const asked = (input) => JSON.stringify(Object.entries(input).filter(([, v]) => v !== undefined && v !== null).sort(([a], [b]) => (a < b ? -1 : 1)));
  async function create(operation, input, given) {
    const made = await request(operation, input, given);
    await Promise.resolve().then(() => store.set(`request ${made.swapId}`, asked(input))).catch((e) => { throw failed(e); });
    return made;
  }

  return {
    // call asks the service through the verifier: the operations, inputs and outputs of docs/api.md.
    call: (operation, input) => (operation === 'createSwap' || operation === 'createGasSwap' ? create(operation, input) : request(operation, input)),

    // verify judges what the wallet already has of the service: the answer of createSwap to a
    // request, or of createGasSwap, whose requests name no dstToken, and an action of the swap. More are members of getSwapStatus's input, such as the
    // wallet that pays bitcoin. It promises the swap's status as it was verified.
    async verify(input, swap, action, more = {}) {
      const before = await Promise.resolve().then(() => store.get(`request ${swap.swapId}`)).catch((e) => { throw failed(e); });
      if (before && before !== asked(input)) throw new RefusedError({ error: 'the swap was agreed on for another request', code: 'upstream', field: 'swapId' });
      if (!before) await create(input.dstToken ? 'createSwap' : 'createGasSwap', input, swap);
      return request('getSwapStatus', { ...more, swapId: swap.swapId }, { ...swap, currentAction: action ?? null });
    },
  };
}
