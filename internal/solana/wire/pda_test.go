package wire

import (
	"encoding/hex"
	"encoding/json"
	"math/big"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swapper-go/swapper/internal/vectors"
)

func bigHex(t testing.TB, s string) *big.Int { return new(big.Int).SetBytes(vectors.Unhex(t, s)) }

func TestVectorsPDA(t *testing.T) {
	vectors.Each(t, "chain-solana", "pda", func(t *testing.T, c *vectors.Case) {
		var in struct {
			SwapProgram, RelayProgram, Mint, User, Hash, ReversedBlockHash string
			ForkID                                                         uint64
			ReversedTxID, Secret, SignerSecretKey                          string
			Address                                                        *string
		}
		c.Input(t, &in)
		var want json.RawMessage
		c.Expected(t, &want)
		switch {
		case in.Address != nil:
			k, err := ParseKey(*in.Address)
			vectors.SameJSON(t, want, map[string]bool{"isValidAddress": err == nil && OnCurve(k), "isValidToken": err == nil})
		case in.SwapProgram != "":
			p := Programs{Swap: key(t, in.SwapProgram), Relay: key(t, in.RelayProgram)}
			user, mint := key(t, in.User), key(t, in.Mint)
			vectors.SameJSON(t, want, map[string]Key{
				"vaultAuthority": p.Authority(), "vault": p.Vault(mint), "userVault": p.UserVault(user, mint), "escrowState": p.Escrow(hash32(t, in.Hash)),
				"relayMainState": p.RelayState(), "relayHeaderTopic": p.RelayHeader(hash32(t, in.ReversedBlockHash)), "relayFork": p.RelayFork(in.ForkID, user),
				"ata": ATA(user, mint)})
		default:
			txid := hash32(t, in.ReversedTxID)
			vectors.SameJSON(t, want, map[string]string{
				"fromSecret": hex.EncodeToString(DataKey(vectors.Unhex(t, in.Secret), txid)), "fromSigner": hex.EncodeToString(DataKey(vectors.Unhex(t, in.SignerSecretKey), txid))})
		}
	})
}

func TestVectorsConstants(t *testing.T) {
	vectors.Each(t, "chain-solana", "constants", func(t *testing.T, c *vectors.Case) {
		var in struct{ BitcoinNetwork, DefaultVersion, GenesisHash, Program string }
		c.Input(t, &in)
		var want json.RawMessage
		c.Expected(t, &want)
		switch {
		case in.Program != "":
			vectors.SameJSON(t, want, idlOf(in.Program))
		case in.GenesisHash != "":
			n, ok := NetworkFor(networkNames[in.BitcoinNetwork])
			if !ok {
				t.Fatal("no network")
			}
			err := CheckGenesis(Genesis(n.Cluster), in.GenesisHash)
			if strings.Contains(c.Name, "unknown") {
				c.Differ(t, "sol-genesis")
				if err == nil {
					t.Errorf("the genesis hash %s is accepted", in.GenesisHash)
				}
				return
			}
			if !c.Refuses(t, err) {
				vectors.SameJSON(t, want, map[string]bool{"ok": true})
			}
		case in.BitcoinNetwork != "":
			n, _ := NetworkFor(networkNames[in.BitcoinNetwork])
			_, err := n.Version(in.DefaultVersion)
			if c.Refuses(t, err) {
				return
			}
			versions := map[string]any{}
			for _, p := range n.Programs {
				versions[p.Version] = map[string]any{"swapContract": p.Swap, "btcRelay": p.Relay, "escrowStateRentExempt": p.EscrowRent(), "supportsInitWithoutClaimer": p.LPInit()}
			}
			vectors.SameJSON(t, want, map[string]any{"defaultVersion": in.DefaultVersion, "versions": versions})
		default:
			all := map[string]any{}
			for _, token := range Tokens() {
				all[token.Ticker] = map[string]any{"address": token.Mint, "decimals": token.Decimals}
			}
			vectors.SameJSON(t, want, all)
		}
	})
}

// argTypes are the arguments as the programs' interface descriptions name them.
var argTypes = map[string][]string{
	ixDeposit: {`amount:"u64"`}, ixWithdraw: {`amount:"u64"`},
	ixRefund: {`authExpiry:"u64"`}, ixRefundPayIn: {`authExpiry:"u64"`}, ixClaim: {`secret:"bytes"`}, ixClaimPayOut: {`secret:"bytes"`},
	ixInitData: {}, ixCloseData: {}, ixWriteData: {`start:"u32"`, `data:"bytes"`},
	ixInit:          {`swapData:{"defined":"SwapData"}`, `securityDeposit:"u64"`, `claimerBounty:"u64"`, `txoHash:{"array":["u8",32]}`, `authExpiry:"u64"`},
	ixRelayInit:     {`data:{"defined":"BlockHeader"}`, `blockHeight:"u32"`, `chainWork:{"array":["u8",32]}`, `lastDiffAdjustment:"u32"`, `prevBlockTimestamps:{"array":["u32",10]}`},
	ixSubmit:        {`data:{"vec":{"defined":"BlockHeader"}}`, `commitedHeader:{"defined":"CommittedBlockHeader"}`},
	ixSubmitShort:   {`data:{"vec":{"defined":"BlockHeader"}}`, `commitedHeader:{"defined":"CommittedBlockHeader"}`},
	ixSubmitFork:    {`data:{"vec":{"defined":"BlockHeader"}}`, `commitedHeader:{"defined":"CommittedBlockHeader"}`, `forkId:"u64"`, `init:"bool"`},
	ixCloseFork:     {`forkId:"u64"`},
	ixVerifyTx:      {`reversedTxid:{"array":["u8",32]}`, `confirmations:"u32"`, `txIndex:"u32"`, `reversedMerkleProof:{"vec":{"array":["u8",32]}}`, `commitedHeader:{"defined":"CommittedBlockHeader"}`},
	ixCompareHeight: {`value:"u32"`, `operation:"u32"`},
}

// idlOf writes a program's tables as its interface description has them. The bytes of
// the arguments are held by the vectors of instructions.
func idlOf(program string) map[string]any {
	p := programs(program)
	table, owner := p.swap(), p.Swap
	accounts := map[string]string{"EscrowState": hex.EncodeToString(escrowAccount[:]), "UserAccount": hex.EncodeToString(userAccount[:])}
	events := map[string]string{"InitializeEvent": hex.EncodeToString(initializeEvent[:]), "RefundEvent": hex.EncodeToString(refundEvent[:]), "ClaimEvent": hex.EncodeToString(claimEvent[:])}
	if program == "btcrelay" {
		table, owner = relayLayouts, p.Relay
		accounts = map[string]string{"MainState": hex.EncodeToString(relayMainAccount[:]), "ForkState": hex.EncodeToString(relayForkAccount[:])}
		events = map[string]string{"StoreHeader": hex.EncodeToString(storeHeaderEvent[:]), "StoreFork": hex.EncodeToString(storeForkEvent[:]), "ChainReorg": hex.EncodeToString(chainReorgEvent[:])}
	}
	instructions := map[string]any{}
	for name, l := range table {
		var roles []string
		for _, r := range l.roles {
			flags := []byte("--")
			if r.signer {
				flags[0] = 's'
			}
			if r.writable {
				flags[1] = 'w'
			}
			if r.optional {
				flags = append(flags, '?')
			}
			roles = append(roles, r.name+":"+string(flags))
		}
		args, ok := argTypes[name]
		if name == ixInitPayIn {
			if args, ok = argTypes[ixInit], true; p.Version == V1 {
				args = append([]string{args[0]}, args[3:]...)
			}
		}
		if !ok {
			panic(name)
		}
		instructions[camel(name)] = map[string]any{"discriminator": hex.EncodeToString(l.id[:]), "rustName": name, "accounts": roles, "args": args}
	}
	errors := map[string]string{}
	for i := range uint32(100) {
		if name := p.ProgramError(owner, firstError+i); name != "" {
			errors[new(big.Int).SetUint64(uint64(firstError+i)).String()] = name
		}
	}
	return map[string]any{"instructions": instructions, "accounts": accounts, "events": events, "errors": errors}
}

func camel(name string) (out string) {
	up := false
	for _, c := range name {
		switch {
		case c == '_':
			up = true
			continue
		case up:
			out += string(c - 'a' + 'A')
		default:
			out += string(c)
		}
		up = false
	}
	return out
}

func TestVectorsHashes(t *testing.T) {
	vectors.Each(t, "chain-solana", "hashes", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Fn, OutputScript, PaymentHash, ClaimHash, TxID string
			Amount, Sequence                               json.Number
			Nonce                                          *json.Number
			Confirmations                                  uint16
		}
		c.Input(t, &in)
		var want json.RawMessage
		c.Expected(t, &want)
		switch in.Fn {
		case "parseClaimHash":
			b, err := hex.DecodeString(in.ClaimHash)
			if err == nil {
				_, err = DecodeClaimHash(b)
			}
			c.Refuses(t, err)
		case "escrowHash":
			hash := hash32(t, in.PaymentHash)
			escrow := EscrowHash(hash, number(t, in.Sequence))
			claim := ClaimHash{hash, number(t, *in.Nonce), in.Confirmations}
			vectors.SameJSON(t, want, map[string]string{"escrowHash": hex.EncodeToString(escrow[:]), "claimHash": hex.EncodeToString(claim.Bytes())})
			if again, err := DecodeClaimHash(claim.Bytes()); err != nil || again != claim {
				t.Errorf("read back: %v, %v", again, err)
			}
		default:
			vectors.SameJSON(t, want, conditionHashes(t, in.Fn, in.OutputScript, in.PaymentHash, in.TxID, in.Amount, in.Nonce, in.Confirmations))
		}
	})
}

func number(t testing.TB, n json.Number) uint64 {
	t.Helper()
	v, err := parseNumber(n.String())
	if err != nil {
		t.Fatalf("%q: %v", n, err)
	}
	return v
}

func same(t *testing.T, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}
