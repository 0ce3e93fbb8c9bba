package wire

import (
	"encoding/json"
	"fmt"
	"math/big"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/bigs"
	"github.com/swapper-go/swapper/internal/members"
)

// VaultRef names a vault.
type VaultRef struct {
	Owner Felt
	ID    Felt
}

func (v VaultRef) felts() felts { return felts{v.Owner, v.ID} }

// Vault is the state of a vault (§15.1, §15.3).
type Vault struct {
	VaultRef
	Relay         Felt // that it believes
	Tokens        [2]Felt
	Multipliers   [2]*big.Int      // base units of a token per raw unit
	UTXO          bitcoin.OutPoint // spending it controls the vault; zero while the vault is closed
	InitialUTXO   bitcoin.OutPoint // that a vault which is not open yet will be opened on
	Confirmations uint8            // that a withdrawal needs
	Withdrawals   uint32
	Deposits      uint32
	Raw           [2]uint64 // balances in raw units
}

// Open reports whether the vault is open.
func (v Vault) Open() bool { return v.UTXO.Hash != bitcoin.Hash{} }

// EntryGetVault asks the vault manager for a vault: [ReadVault]. It takes the felts of
// a [VaultRef].
const EntryGetVault = "get_vault"

// Felts is how entry points of the vault manager take a vault's name.
func (v VaultRef) Felts() []Felt { return v.felts() }

// ReadVault reads the answer of [EntryGetVault].
func ReadVault(ref VaultRef, answer []Felt) (Vault, error) {
	r := &reader{rest: answer}
	v := Vault{VaultRef: ref, Relay: r.address(), Tokens: [2]Felt{r.address(), r.address()}}
	v.Multipliers = [2]*big.Int{Number(r.felt()), Number(r.felt())}
	v.UTXO = bitcoin.OutPoint{Hash: r.txid(), Index: r.u32()}
	v.Confirmations, v.Withdrawals, v.Deposits = uint8(r.uint(8)), r.u32(), r.u32()
	v.Raw = [2]uint64{r.uint(64), r.uint(64)}
	if err := r.end(); err != nil {
		return Vault{}, fmt.Errorf("vault %s of %s: %w", Decimal(ref.ID), Hex64(ref.Owner), err)
	}
	return v, nil
}

// Neutral returns the view of a vault that every chain gives. A vault that believes
// another relay than this deployment's must not be used.
func (d Deployment) Neutral(v Vault) chains.Vault {
	return chains.Vault{
		VaultID: chains.VaultID{Owner: Hex64(v.Owner), ID: Number(v.ID)}, Open: v.Open(), Tokens: [2]string{Hex64(v.Tokens[0]), Hex64(v.Tokens[1])},
		Multipliers: [2]*big.Int{bigs.OrZero(v.Multipliers[0]), bigs.OrZero(v.Multipliers[1])},
		VaultState:  bitcoin.VaultState{UTXO: v.UTXO, Raw: v.Raw, Withdrawals: v.Withdrawals}, Confirmations: uint32(v.Confirmations), OurRelay: v.Relay == d.BtcRelay.Address,
	}
}

// VaultRefOf reads the name of a vault in its neutral form.
func VaultRefOf(id chains.VaultID) (VaultRef, error) {
	owner, err := ParseAddress(id.Owner)
	if err != nil {
		return VaultRef{}, fault.Invalid("owner", "%w", err)
	}
	n, err := FeltOfBig(id.ID)
	if err != nil {
		return VaultRef{}, fault.Invalid("vaultId", "%w", err)
	}
	return VaultRef{owner, n}, nil
}

type vaultTokenJSON struct {
	Token      string `json:"token"`
	Multiplier string `json:"multiplier"`
	RawAmount  string `json:"rawAmount"`
}

// MarshalJSON writes the form that records hold (§15.3).
func (v Vault) MarshalJSON() ([]byte, error) {
	var tokens [2]vaultTokenJSON
	for i := range tokens {
		if _, err := FeltOfBig(v.Multipliers[i]); err != nil {
			return nil, fault.Invalid(fmt.Sprintf("token%d.multiplier", i), "%w", err)
		}
		tokens[i] = vaultTokenJSON{Hex64(v.Tokens[i]), v.Multipliers[i].String(), fmt.Sprint(v.Raw[i])}
	}
	var initial *string
	if v.InitialUTXO != (bitcoin.OutPoint{}) {
		text := v.InitialUTXO.String()
		initial = &text
	}
	return json.Marshal(struct {
		Type          string         `json:"type"`
		Owner         string         `json:"owner"`
		VaultID       string         `json:"vaultId"`
		RelayContract string         `json:"relayContract"`
		Token0        vaultTokenJSON `json:"token0"`
		Token1        vaultTokenJSON `json:"token1"`
		UTXO          string         `json:"utxo"`
		Confirmations uint8          `json:"confirmations"`
		WithdrawCount uint32         `json:"withdrawCount"`
		DepositCount  uint32         `json:"depositCount"`
		InitialUTXO   *string        `json:"initialUtxo,omitempty"`
	}{"STARKNET", Hex64(v.Owner), Decimal(v.ID), Hex64(v.Relay), tokens[0], tokens[1], v.UTXO.String(), v.Confirmations, v.Withdrawals, v.Deposits, initial})
}

// UnmarshalJSON reads what MarshalJSON writes. A vault with a UTXO is open.
func (v *Vault) UnmarshalJSON(data []byte) error {
	fields, err := members.ReadTyped("vault data", data, "STARKNET", "Starknet")
	if err != nil {
		return err
	}
	r := &memberReader{fields}
	parsed := Vault{VaultRef: VaultRef{r.address("owner"), r.felt("vaultId")}, Relay: r.address("relayContract"), UTXO: r.outPoint("utxo"),
		Confirmations: uint8(r.number("confirmations", 8).Uint64()), Withdrawals: uint32(r.number("withdrawCount", 32).Uint64()), Deposits: uint32(r.number("depositCount", 32).Uint64())}
	if r.Has("initialUtxo") {
		parsed.InitialUTXO = r.outPoint("initialUtxo")
	}
	for i, name := range []string{"token0", "token1"} {
		t := r.object(name)
		if r.Err != nil {
			continue
		}
		parsed.Tokens[i], parsed.Multipliers[i], parsed.Raw[i] = t.address("token"), Number(t.felt("multiplier")), t.number("rawAmount", 64).Uint64()
		r.FailWith(t.Err)
	}
	if r.Err != nil {
		return r.Err
	}
	*v = parsed
	return nil
}

func (r *memberReader) outPoint(name string) bitcoin.OutPoint {
	return members.As(&r.Reader, name, bitcoin.ParseOutPoint)
}
