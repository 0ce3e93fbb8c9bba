// The types of inputs and outputs are those of docs/api.md, of which the service serves an
// OpenAPI document; here are the members that wallets use most.

export type Amount = { amount: string; rawAmount: string; decimals: number; symbol: string; chain: string };

export type CreateSwapInput = {
  srcToken: string;
  dstToken: string;
  /** base units of the token that amountType selects */
  amount: string;
  amountType: 'EXACT_IN' | 'EXACT_OUT';
  srcAddress?: string | undefined;
  dstAddress: string;
  paymentHash?: string | undefined;
  lightningInvoiceDescription?: string | undefined;
  lightningInvoiceDescriptionHash?: string | undefined;
  lightningPaymentHTLCTimeout?: number | undefined;
  lightningPaymentMaxHTLCTimeout?: number | undefined;
  idempotencyKey?: string | undefined;
};

export type CreateGasSwapInput = {
  srcToken: string;
  chainId: string;
  /** base units of the chain's native token */
  amount: string;
  dstAddress: string;
  refundAddress?: string | undefined;
  lp?: string | undefined;
  idempotencyKey?: string | undefined;
};

export type Swap = {
  swapId: string;
  swapType: string;
  state: { number: number; name: string; description: string };
  quote: { inputAmount: Amount; outputAmount: Amount; fees: { swap: Amount; networkOutput?: Amount; networkInput?: Amount }; expiry: number; outputAddress: string };
  createdAt: number;
  swapKey?: string;
  /** of a swap that a link pays, or that pays a link; successAction once it was paid */
  lnurl?: { pay?: string; withdraw?: string; successAction?: { description: string; text?: string; url?: string } };
};

/** A transaction without the wallet's inputs, if the wallet was not named; else with them, of which signInputs are to be signed. */
export type PSBT =
  | { type: 'RAW_PSBT'; psbtHex: string; psbtBase64: string; in1sequence: number; feeRate: number; maxNetworkFee?: Amount }
  | { type: 'FUNDED_PSBT'; psbtHex: string; psbtBase64: string; signInputs: number[]; feeRate: number; networkFee?: Amount };

/** Each description says in plain words what was verified. */
export type Action =
  | { type: 'SignSmartChainTransaction'; name: string; description: string; chain: string; txs: string[]; requiredSigner: string }
  | { type: 'SendToAddress'; name: string; description: string; chain: string; txs: { type: string; address: string; hyperlink: string; amount: Amount }[] }
  | { type: 'SignPSBT'; name: string; description: string; chain: string; txs: PSBT[] }
  | { type: 'Wait'; name: string; description: string; expectedTimeSeconds: number; pollTimeSeconds: number };

export type Status = Swap & {
  isFinished: boolean;
  isSuccess: boolean;
  isFailed: boolean;
  isExpired: boolean;
  currentAction: Action | null;
  /** why an action is withheld; the code is "unsupported" for what cannot be verified yet */
  actionError?: { code: string; error: string };
  requiresSecretReveal?: boolean;
};

export type GetSwapStatusInput = {
  swapId: string;
  swapKey?: string | undefined;
  signer?: string | undefined;
  secret?: string | undefined;
  /** the wallet that pays bitcoin: its coins are chosen here, and the service does not hear which */
  bitcoinAddress?: string | undefined;
  bitcoinPublicKey?: string | undefined;
  bitcoinFeeRate?: number | undefined;
};

/** Keeps small texts by name. It must outlive the page, or swaps under way are no longer known. */
export interface Store {
  get(name: string): string | null | Promise<string | null>;
  set(name: string, text: string): void | Promise<void>;
}

export type Chain = {
  /** JSON-RPC URLs of the wallet's own nodes; never the service's */
  rpc: string[];
  /** Solana alone: the version of the swap program for new swaps */
  version?: string | undefined;
  /** replaces the published contracts, in the form of the Go type Network of the chain's package */
  network?: object | undefined;
  /** replaces the built-in tokens, in the form of the Go type tokens.Token */
  tokens?: object[] | undefined;
};

export type Config = {
  /** base URL of the service */
  service: string;
  /** added to each request to the service */
  headers?: Record<string, string> | undefined;
  /** Bitcoin's network; mainnet if it is left out */
  network?: 'mainnet' | 'testnet3' | 'testnet4' | 'signet' | 'regtest' | undefined;
  /** by identifier: CITREA, BOTANIX, ALPEN, GOAT, SOLANA, STARKNET */
  chains: Record<string, Chain>;
  /** base URLs of mempool.space's API; its public servers if it is left out */
  bitcoin?: string[] | undefined;
  /** for a wallet without any Bitcoin backend: swaps from Bitcoin are refused; not beside bitcoin */
  noBitcoin?: boolean | undefined;
  /** sats that a swap which no contract secures may have (TRUSTED_FROM_BTC, TRUSTED_FROM_BTCLN); such swaps are refused if it is left out */
  maxTrustedSats?: number | undefined;
  /** millionths, as in the Go type swapper.Policy; 0 and what is left out are its defaults */
  policy?: { tolerancePPM?: number | undefined; maxFeePPM?: number | undefined; maxWatchtowerPPM?: number | undefined } | undefined;
  /** allowLocal permits http and hosts that are not public behind LNURL links and Lightning addresses; for test networks */
  lnurl?: { allowLocal?: boolean | undefined } | undefined;
  /** in memory if it is left out */
  store?: Store | undefined;
  /** market price of a whole token in micro-sats, null for one without; public sources if it is left out */
  prices?: ((token: string) => string | bigint | null | Promise<string | bigint | null>) | undefined;
  /** Unix milliseconds; the system's clock if it is left out */
  now?: (() => number) | undefined;
  fetch?: typeof fetch | undefined;
  /** where verify.wasm and wasm_exec.js are; beside index.js if they are left out */
  wasm?: string | URL | BufferSource | WebAssembly.Module | undefined;
  exec?: string | URL | undefined;
};

export declare class RefusedError extends Error {
  /** "upstream": the service's answer is refused, or it could not answer; "unsupported": cannot be verified; others as in docs/errors.md */
  code: string;
  field?: string;
  min?: string;
  max?: string;
}

export interface Verifier {
  /** Asks the service and verifies its answer; the secret of a swap from Lightning is made here. */
  call(operation: 'createSwap', input: CreateSwapInput): Promise<Swap>;
  /** Gas of a provider who is trusted, within maxTrustedSats. */
  call(operation: 'createGasSwap', input: CreateGasSwapInput): Promise<Swap>;
  call(operation: 'getSwapStatus', input: GetSwapStatusInput): Promise<Status>;
  call(operation: 'submitTransaction', input: { swapId: string; signedTxs: string[]; swapKey?: string | undefined }): Promise<{ txHashes: string[] }>;
  call(operation: string, input?: object): Promise<unknown>;
  /** Verifies what the wallet already has: the answer to its request, and an action. Sign what it promises, not what was given. */
  verify(request: CreateSwapInput | CreateGasSwapInput, swap: Swap, action?: Action | null, more?: Omit<GetSwapStatusInput, 'swapId'>): Promise<Status>;
}

export declare function memory(): Store;
/** Starts a verifier. It rejects with a RefusedError if the configuration is wrong. */
export declare function load(config: Config): Promise<Verifier>;
