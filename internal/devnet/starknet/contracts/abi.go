package contracts

import (
	"encoding/json"
	"fmt"
	"strings"
)

// abi writes the ABI of a contract as Cairo's compiler does, from lines such as
//
//	constructor(owner: felt)
//	view balance_of(account: address) -> u256
//	call transfer(recipient: address, amount: u256) -> bool
//	event Transfer(key from: address, key to: address, value: u256)
//	struct OutPoint(txid: u256, vout: u32)
//
// Clients read from it how arguments are encoded, and that an account is one of Cairo 1.
func abi(name string, lines ...string) string {
	var items, functions, variants []any
	w := abiWriter{"local::" + name + "::", map[string]bool{}}
	for _, line := range lines {
		kind, rest, _ := strings.Cut(line, " ")
		if strings.HasPrefix(line, "constructor(") {
			kind, rest = "constructor", line
		}
		title, rest, ok := strings.Cut(rest, "(")
		args, result, closed := strings.Cut(rest, ")")
		if !ok || !closed {
			panic(fmt.Sprintf("not a line of an ABI: %q", line))
		}
		switch kind {
		case "constructor":
			items = append(items, map[string]any{"type": "constructor", "name": "constructor", "inputs": w.args(args)})
		case "view", "call":
			outputs := []any{}
			if t, found := strings.CutPrefix(result, " -> "); found {
				outputs = append(outputs, map[string]string{"type": w.typeOf(t)})
			}
			functions = append(functions, map[string]any{"type": "function", "name": title, "inputs": w.args(args), "outputs": outputs,
				"state_mutability": map[string]string{"view": "view", "call": "external"}[kind]})
		case "event":
			members := w.args(args)
			for _, m := range members {
				n, key := strings.CutPrefix(m["name"], "key ")
				m["name"], m["kind"] = n, "data"
				if key {
					m["kind"] = "key"
				}
			}
			path := w.path + title
			items = append(items, map[string]any{"type": "event", "kind": "struct", "name": path, "members": members})
			variants = append(variants, map[string]string{"name": title, "type": path, "kind": "nested"})
		case "struct":
			w.structs[title] = true
			items = append(items, map[string]any{"type": "struct", "name": w.path + title, "members": w.args(args)})
		default:
			panic(fmt.Sprintf("not a line of an ABI: %q", line))
		}
	}
	face := "local::I" + name
	if functions == nil {
		functions = []any{}
	}
	items = append(items, map[string]any{"type": "impl", "name": name + "Impl", "interface_name": face}, map[string]any{"type": "interface", "name": face, "items": functions})
	if variants != nil {
		items = append(items, map[string]any{"type": "event", "kind": "enum", "name": w.path + "Event", "variants": variants})
	}
	text, err := json.Marshal(append(abiTypes(), items...))
	if err != nil {
		panic(err) // texts alone
	}
	return string(text)
}

// abiWriter knows the structs of a contract.
type abiWriter struct {
	path    string
	structs map[string]bool
}

func (w abiWriter) args(text string) []map[string]string {
	args := []map[string]string{}
	for part := range strings.SplitSeq(text, ", ") {
		if part == "" {
			continue
		}
		name, t, ok := strings.Cut(part, ": ")
		if !ok {
			panic(fmt.Sprintf("not an argument of an ABI, which is \"name: type\": %q", part))
		}
		args = append(args, map[string]string{"name": name, "type": w.typeOf(t)})
	}
	return args
}

// cairoTypes are the names of types in full.
var cairoTypes = map[string]string{
	"felt": "core::felt252", "bool": "core::bool", "bytes": "core::byte_array::ByteArray", "address": "core::starknet::contract_address::ContractAddress",
	"class": "core::starknet::class_hash::ClassHash", "Call": "core::starknet::account::Call", "none": "()",
	"u8": "core::integer::u8", "u32": "core::integer::u32", "u64": "core::integer::u64", "u128": "core::integer::u128", "u256": "core::integer::u256",
}

func (w abiWriter) typeOf(t string) string {
	for short, full := range map[string]string{"Array<": "core::array::Array::<", "Span<": "core::array::Span::<", "Option<": "core::option::Option::<"} {
		if inner, found := strings.CutPrefix(t, short); found {
			return full + w.typeOf(strings.TrimSuffix(inner, ">")) + ">"
		}
	}
	if inner, count, found := strings.Cut(strings.Trim(t, "[]"), ";"); found {
		return "[" + w.typeOf(inner) + "; " + count + "]"
	}
	if w.structs[t] {
		return w.path + t
	}
	full, known := cairoTypes[t]
	if !known {
		panic(fmt.Sprintf("not a known type of an ABI: %q", t))
	}
	return full
}

// abiTypes are the types other than numbers, which every ABI includes.
func abiTypes() []any {
	var w abiWriter
	structure := func(name, members string) any {
		return map[string]any{"type": "struct", "name": w.typeOf(name), "members": w.args(members)}
	}
	return []any{
		structure("u256", "low: u128, high: u128"),
		structure("Call", "to: address, selector: felt, calldata: Span<felt>"),
		map[string]any{"type": "struct", "name": w.typeOf("Span<felt>"), "members": []any{map[string]string{"name": "snapshot", "type": "@" + w.typeOf("Array<felt>")}}},
		map[string]any{"type": "struct", "name": w.typeOf("bytes"), "members": []any{
			map[string]string{"name": "data", "type": "core::array::Array::<core::bytes_31::bytes31>"},
			map[string]string{"name": "pending_word", "type": w.typeOf("felt")}, map[string]string{"name": "pending_word_len", "type": "core::internal::bounded_int::BoundedInt::<0, 30>"}}},
		map[string]any{"type": "enum", "name": w.typeOf("bool"), "variants": []any{map[string]string{"name": "False", "type": "()"}, map[string]string{"name": "True", "type": "()"}}},
	}
}

var (
	tokenABI = abi("ERC20",
		"constructor(name: bytes, symbol: bytes, decimals: u8, permitted_minter: address)",
		"view name() -> bytes", "view symbol() -> bytes", "view decimals() -> u8", "view total_supply() -> u256", "view totalSupply() -> u256",
		"view balance_of(account: address) -> u256", "view balanceOf(account: address) -> u256", "view allowance(owner: address, spender: address) -> u256",
		"call approve(spender: address, amount: u256) -> bool", "call transfer(recipient: address, amount: u256) -> bool",
		"call transfer_from(sender: address, recipient: address, amount: u256) -> bool", "call transferFrom(sender: address, recipient: address, amount: u256) -> bool",
		"call permissioned_mint(account: address, amount: u256)",
		"event Transfer(key from: address, key to: address, value: u256)", "event Approval(key owner: address, key spender: address, value: u256)")

	accountLines = []string{"call __execute__(calls: Array<Call>)", "call __validate__(calls: Array<Call>) -> felt",
		"view is_valid_signature(hash: felt, signature: Array<felt>) -> felt", "view isValidSignature(hash: felt, signature: Array<felt>) -> felt"}

	openZeppelinABI = abi("Account", append([]string{"constructor(public_key: felt)",
		"call __validate_deploy__(class_hash: felt, contract_address_salt: felt, public_key: felt) -> felt",
		"view supports_interface(interface_id: felt) -> bool", "view get_public_key() -> felt", "view getPublicKey() -> felt",
		"call set_public_key(new_public_key: felt, signature: Span<felt>)", "call setPublicKey(newPublicKey: felt, signature: Span<felt>)",
		"event OwnerAdded(key new_owner_guid: felt)", "event OwnerRemoved(key removed_owner_guid: felt)"}, accountLines...)...)

	argentABI = abi("ArgentAccount", append([]string{"struct Version(major: u8, minor: u8, patch: u8)",
		"view get_owner() -> felt", "view get_guardian() -> felt", "view getName() -> felt", "view get_version() -> Version"}, accountLines...)...)

	deployerABI = abi("UniversalDeployer",
		"call deploy_contract(class_hash: class, salt: felt, not_from_zero: bool, calldata: Span<felt>) -> address",
		"call deployContract(classHash: class, salt: felt, unique: bool, calldata: Span<felt>) -> address",
		"event ContractDeployed(address: address, deployer: address, not_from_zero: bool, class_hash: class, calldata: Span<felt>, salt: felt)")

	escrowLines = []string{
		"struct SuccessAction(hash: felt, expiry: u64, fee: u256)",
		"struct EscrowData(offerer: address, claimer: address, token: address, refund_handler: address, claim_handler: address, flags: u128, claim_data: felt, refund_data: felt, " +
			"amount: u256, fee_token: address, security_deposit: u256, claimer_bounty: u256, success_action: Option<SuccessAction>)",
		"struct EscrowState(init_blockheight: u64, finish_blockheight: u64, state: u8)",
		"struct Reputation(amount: u256, count: u128)",
		"struct OwnerToken(owner: address, token: address)",
		"struct OwnerTokenHandler(owner: address, token: address, claim_handler: address)",
	}
	escrowManagerABI = abi("EscrowManager", append(escrowLines,
		"call initialize(escrow: EscrowData, signature: Array<felt>, timeout: u64, extra_data: Span<felt>)",
		"call claim(escrow: EscrowData, witness: Array<felt>)", "call refund(escrow: EscrowData, witness: Array<felt>)",
		"call cooperative_refund(escrow: EscrowData, signature: Array<felt>, timeout: u64)",
		"call deposit(token: address, amount: u256)", "call withdraw(token: address, amount: u256, destination: address)",
		"view get_balance(data: Span<OwnerToken>) -> Array<u256>", "view get_reputation(data: Span<OwnerTokenHandler>) -> Array<[Reputation;3]>",
		"view get_state(escrow: EscrowData) -> EscrowState", "view get_hash_state(escrow_hash: felt) -> EscrowState",
		"view get_hash_state_multiple(escrow_hashes: Span<felt>) -> Span<EscrowState>",
		"event Initialize(key offerer: address, key claimer: address, key claim_data: felt, key escrow_hash: felt, claim_handler: address, refund_handler: address)",
		"event Claim(key offerer: address, key claimer: address, key claim_data: felt, key escrow_hash: felt, witness_result: Span<felt>, claim_handler: address)",
		"event Refund(key offerer: address, key claimer: address, key claim_data: felt, key escrow_hash: felt, witness_result: Span<felt>, refund_handler: address)")...)

	headerLines = []string{
		"struct BlockHeader(reversed_version: u32, previous_blockhash: [u32;8], merkle_root: [u32;8], reversed_timestamp: u32, nbits: u32, nonce: u32)",
		"struct StoredBlockHeader(blockheader: BlockHeader, block_hash: [u32;8], chain_work: u256, block_height: u32, last_diff_adjustment: u32, prev_block_timestamps: [u32;10])",
	}
	relayABI = abi("BtcRelay", append(headerLines[:2:2],
		"constructor(stored_header: StoredBlockHeader)",
		"call submit_main_blockheaders(headers: Span<BlockHeader>, stored_header: StoredBlockHeader)",
		"call submit_short_fork_blockheaders(headers: Span<BlockHeader>, stored_header: StoredBlockHeader)",
		"call submit_fork_blockheaders(fork_id: felt, headers: Span<BlockHeader>, stored_header: StoredBlockHeader)",
		"view get_chainwork() -> u256", "view get_blockheight() -> u32", "view verify_blockheader(stored_header: StoredBlockHeader) -> u32",
		"view get_commit_hash(height: u32) -> felt", "view get_tip_commit_hash() -> felt",
		"event StoreHeader(key commit_hash: felt, key block_hash_poseidon: felt, header: StoredBlockHeader)",
		"event StoreForkHeader(key commit_hash: felt, key block_hash_poseidon: felt, key fork_id: felt, header: StoredBlockHeader)",
		"event ChainReorg(key fork_submitter: address, key fork_id: felt, key tip_block_hash_poseidon: felt, key tip_commit_hash: felt, start_height: u32)")...)

	vaultManagerABI = abi("SpvVaultManager", append(headerLines[:2:2],
		"struct OutPoint(txid: u256, vout: u32)",
		"struct SpvVaultState(relay_contract: address, token_0: address, token_1: address, token_0_multiplier: felt, token_1_multiplier: felt, utxo: OutPoint, confirmations: u8, "+
			"withdraw_count: u32, deposit_count: u32, token_0_amount: u64, token_1_amount: u64)",
		"struct BitcoinVaultTransactionData(recipient: address, amount_0: u64, amount_1: u64, caller_fee_0: u64, caller_fee_1: u64, fronting_fee_0: u64, fronting_fee_1: u64, "+
			"execution_handler_fee_amount_0: u64, execution_hash: felt, execution_expiry: u32)",
		"call open(vault_id: felt, relay_contract: address, utxo: OutPoint, confirmations: u8, token_0: address, token_1: address, token_0_multiplier: felt, token_1_multiplier: felt)",
		"call deposit(owner: address, vault_id: felt, raw_token_0_amount: u64, raw_token_1_amount: u64)",
		"call front(owner: address, vault_id: felt, withdraw_sequence: u32, btc_tx_hash: u256, data: BitcoinVaultTransactionData)",
		"call claim(owner: address, vault_id: felt, transaction: bytes, blockheader: StoredBlockHeader, merkle_proof: Span<[u32;8]>, position: u32)",
		"view get_vault(owner: address, vault_id: felt) -> SpvVaultState",
		"view get_fronter_address(owner: address, vault_id: felt, btc_tx_hash: u256, data: BitcoinVaultTransactionData) -> address",
		"view get_fronter_address_by_id(owner: address, vault_id: felt, fronting_id: felt) -> address",
		"view parse_bitcoin_tx(transaction: bytes) -> Option<BitcoinVaultTransactionData>",
		"event Opened(key btc_tx_hash: u256, key owner: address, key vault_id: felt, key vout: u32)",
		"event Deposited(key owner: address, key vault_id: felt, amount_0: u64, amount_1: u64, deposit_count: u32)",
		"event Fronted(key btc_tx_hash: u256, key owner: address, key vault_id: felt, key recipient: address, key execution_hash: felt, key caller: address, amount_0: u64, amount_1: u64)",
		"event Claimed(key btc_tx_hash: u256, key owner: address, key vault_id: felt, key recipient: address, key execution_hash: felt, key caller: address, amount_0: u64, amount_1: u64, "+
			"withdraw_count: u32, fronting_address: address)",
		"event Closed(key btc_tx_hash: u256, key owner: address, key vault_id: felt, error: felt)")...)
)
