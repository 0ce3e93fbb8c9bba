package wire

import (
	"encoding/json"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/members"
)

// VaultParams are fixed when a vault is opened; the chain stores only their hash.
type VaultParams struct {
	BtcRelayContract common.Address
	Token0           common.Address
	Token1           common.Address
	Token0Multiplier *big.Int // base units of the token per raw unit, below 2^192
	Token1Multiplier *big.Int
	Confirmations    *big.Int // that a withdrawal needs
}

// Commitment is what the chain stores of the parameters; it is zero only for a
// vault that is not open.
func (p VaultParams) Commitment() (common.Hash, error) {
	if !InBits(p.Token0Multiplier, 192) || !InBits(p.Token1Multiplier, 192) || !InBits(p.Confirmations, 256) {
		return common.Hash{}, fault.Invalid("vault", "parameters are out of range")
	}
	return crypto.Keccak256Hash(make(words, 0, 6*32).address(p.BtcRelayContract).address(p.Token0).address(p.Token1).
		uint(p.Token0Multiplier).uint(p.Token1Multiplier).uint(p.Confirmations)), nil
}

// VaultState is what the vault manager stores of a vault.
type VaultState struct {
	SpvVaultParametersCommitment common.Hash
	UtxoTxHash                   common.Hash // internal order
	UtxoVout                     uint32
	OpenBlockheight              uint32
	WithdrawCount                uint32
	DepositCount                 uint32
	Token0Amount                 uint64
	Token1Amount                 uint64
}

// Open reports whether the vault is open.
func (s VaultState) Open() bool { return s.SpvVaultParametersCommitment != common.Hash{} }

// DecodeVaultState reads the answer of getVault.
func DecodeVaultState(answer []byte) (VaultState, error) {
	var s VaultState
	err := Unpack(VaultABI(), "getVault", answer, &s)
	return s, err
}

// VaultCall is the call data that asks for the state of a vault.
func VaultCall(v VaultRef) ([]byte, error) {
	if !InBits(v.ID, 96) {
		return nil, fault.Invalid("vaultId", "must be from 0 to 2^96-1")
	}
	return VaultABI().Pack("getVault", v.Owner, v.ID)
}

// Vault is a vault: its parameters and how it stands.
type Vault struct {
	VaultRef
	Params      VaultParams
	Opened      bool
	UTXO        bitcoin.OutPoint // spending it controls the vault; zero while the vault is closed
	InitialUTXO bitcoin.OutPoint // that a vault which is not open yet will be opened on
	Raw         [2]uint64        // balances in raw units
	Withdrawals uint32
	Deposits    uint32
}

// NewVault joins the stored state of a vault with the parameters that it was
// opened with. It refuses parameters that are not those, and a vault that
// believes another relay than this deployment's (protocol: chain-evm.md §11.2).
func (d Deployment) NewVault(ref VaultRef, s VaultState, p VaultParams) (Vault, error) {
	commitment, err := p.Commitment()
	switch {
	case err != nil:
		return Vault{}, err
	case !InBits(ref.ID, 96):
		return Vault{}, fault.Invalid("vaultId", "must be from 0 to 2^96-1")
	case !s.Open():
		return Vault{}, fault.New(fault.NotFound, "vault %s of %s is not open", ref.ID, ref.Owner)
	case commitment != s.SpvVaultParametersCommitment:
		return Vault{}, fmt.Errorf("vault %s of %s has different parameters", ref.ID, ref.Owner)
	case p.BtcRelayContract != d.BtcRelay.Address:
		return Vault{}, fmt.Errorf("vault %s of %s uses a different relay", ref.ID, ref.Owner)
	case !p.Confirmations.IsUint64() || p.Confirmations.Uint64() > 1<<31:
		return Vault{}, fmt.Errorf("vault %s of %s requires %s confirmations", ref.ID, ref.Owner, p.Confirmations)
	}
	return Vault{VaultRef: ref, Params: p, Opened: s.UtxoTxHash != common.Hash{},
		UTXO: bitcoin.OutPoint{Hash: bitcoin.Hash(s.UtxoTxHash), Index: s.UtxoVout},
		Raw:  [2]uint64{s.Token0Amount, s.Token1Amount}, Withdrawals: s.WithdrawCount, Deposits: s.DepositCount}, nil
}

type vaultTokenJSON struct {
	Token      string `json:"token"`
	Multiplier string `json:"multiplier"`
	RawAmount  string `json:"rawAmount"`
}

type vaultJSON struct {
	Type          string         `json:"type"`
	Owner         string         `json:"owner"`
	VaultID       string         `json:"vaultId"`
	RelayContract string         `json:"relayContract"`
	Token0        vaultTokenJSON `json:"token0"`
	Token1        vaultTokenJSON `json:"token1"`
	UTXO          string         `json:"utxo"`
	Confirmations uint32         `json:"confirmations"`
	WithdrawCount uint32         `json:"withdrawCount"`
	DepositCount  uint32         `json:"depositCount"`
	InitialUTXO   *string        `json:"initialUtxo,omitempty"`
}

// MarshalJSON writes the form that records hold (protocol: chain-evm.md §11.2).
func (v Vault) MarshalJSON() ([]byte, error) {
	if _, err := v.Params.Commitment(); err != nil {
		return nil, err
	}
	if !v.Params.Confirmations.IsUint64() || v.Params.Confirmations.Uint64() > 1<<31 || !InBits(v.ID, 96) {
		return nil, fault.Invalid("vault", "number or confirmations are out of range")
	}
	j := vaultJSON{
		Type: "EVM", Owner: v.Owner.Hex(), VaultID: v.ID.String(), RelayContract: v.Params.BtcRelayContract.Hex(),
		Token0: vaultTokenJSON{v.Params.Token0.Hex(), v.Params.Token0Multiplier.String(), fmt.Sprint(v.Raw[0])},
		Token1: vaultTokenJSON{v.Params.Token1.Hex(), v.Params.Token1Multiplier.String(), fmt.Sprint(v.Raw[1])},
		UTXO:   v.UTXO.String(), Confirmations: uint32(v.Params.Confirmations.Uint64()),
		WithdrawCount: v.Withdrawals, DepositCount: v.Deposits,
	}
	if v.InitialUTXO != (bitcoin.OutPoint{}) {
		text := v.InitialUTXO.String()
		j.InitialUTXO = &text
	}
	return json.Marshal(j)
}

// UnmarshalJSON reads what MarshalJSON writes. A vault with a UTXO is open.
func (v *Vault) UnmarshalJSON(data []byte) error {
	var j vaultJSON
	if len(data) > members.MaxText {
		return fault.Invalid("", "vault data is longer than %d bytes", members.MaxText)
	}
	if err := json.Unmarshal(data, &j); err != nil {
		return fault.Invalid("", "vault data: %w", err)
	}
	if j.Type != "EVM" {
		return fault.Invalid("type", "vault data of type %q is not for an EVM chain", j.Type)
	}
	r := textReader{}
	parsed := Vault{
		VaultRef: VaultRef{r.address("owner", j.Owner), r.number("vaultId", j.VaultID, 96)},
		Params: VaultParams{
			BtcRelayContract: r.address("relayContract", j.RelayContract),
			Token0:           r.address("token0.token", j.Token0.Token), Token1: r.address("token1.token", j.Token1.Token),
			Token0Multiplier: r.number("token0.multiplier", j.Token0.Multiplier, 192),
			Token1Multiplier: r.number("token1.multiplier", j.Token1.Multiplier, 192),
			Confirmations:    new(big.Int).SetUint64(uint64(j.Confirmations)),
		},
		UTXO: r.outPoint("utxo", j.UTXO),
		Raw: [2]uint64{r.number("token0.rawAmount", j.Token0.RawAmount, 64).Uint64(),
			r.number("token1.rawAmount", j.Token1.RawAmount, 64).Uint64()},
		Withdrawals: j.WithdrawCount, Deposits: j.DepositCount,
	}
	if j.InitialUTXO != nil {
		parsed.InitialUTXO = r.outPoint("initialUtxo", *j.InitialUTXO)
	}
	if r.err != nil {
		return r.err
	}
	parsed.Opened = parsed.UTXO.Hash != bitcoin.Hash{}
	*v = parsed
	return nil
}

// textReader reads text members and keeps the first error.
type textReader struct{ err error }

func (r *textReader) fail(name string, err error) {
	if r.err == nil && err != nil {
		r.err = fault.Invalid(name, "%w", err)
	}
}

func (r *textReader) address(name, s string) common.Address {
	a, err := parseAddress(s)
	r.fail(name, err)
	return a
}

// number never returns nil.
func (r *textReader) number(name, s string, bits int) *big.Int {
	n, err := parseNumber(s)
	if err == nil && n.BitLen() > bits {
		err = fmt.Errorf("must be at most 2^%d-1", bits)
	}
	if err != nil {
		r.fail(name, err)
		return new(big.Int)
	}
	return n
}

func (r *textReader) outPoint(name, s string) bitcoin.OutPoint {
	p, err := bitcoin.ParseOutPoint(s)
	r.fail(name, err)
	return p
}
