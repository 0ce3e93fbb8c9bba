package wire

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/big"

	"github.com/NethermindEth/starknet.go/typeddata"
)

// TypedData is a SNIP-12 message of revision 1, as wallets sign it (§8). Its JSON is
// what a wallet's signMessage takes.
type TypedData struct {
	Types       map[string][]TypedMember `json:"types"`
	PrimaryType string                   `json:"primaryType"`
	Domain      TypedDomain              `json:"domain"`
	Message     map[string]any           `json:"message"`
}

// TypedMember is a member of a type of typed data.
type TypedMember struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

// TypedDomain says for what a message is signed. Version and revision are hashed as
// numbers.
type TypedDomain struct {
	Name     string `json:"name"`
	Version  string `json:"version"`
	ChainID  string `json:"chainId"`
	Revision string `json:"revision"`
}

const (
	typeInitialize = "Initialize"
	typeRefund     = "Refund"
	typeData       = "DataHash"
)

var domainType = []TypedMember{{"name", "shortstring"}, {"version", "shortstring"}, {"chainId", "shortstring"}, {"revision", "shortstring"}}

var initializeType = []TypedMember{
	{"Swap hash", "felt"}, {"Offerer", "ContractAddress"}, {"Claimer", "ContractAddress"}, {"Token amount", "TokenAmount"},
	{"Pay in", "bool"}, {"Pay out", "bool"}, {"Tracking reputation", "bool"}, {"Claim handler", "ContractAddress"}, {"Claim data", "felt"},
	{"Refund handler", "ContractAddress"}, {"Refund data", "felt"}, {"Security deposit", "TokenAmount"}, {"Claimer bounty", "TokenAmount"},
	{"Claim action hash", "felt"}, {"Deadline", "timestamp"},
}

func (n Network) typedData(primary string, members []TypedMember, message map[string]any) TypedData {
	return TypedData{
		Types:       map[string][]TypedMember{"StarknetDomain": domainType, primary: members},
		PrimaryType: primary,
		Domain:      TypedDomain{"atomiq.exchange", "1", n.ChainID, "1"},
		Message:     message,
	}
}

func typedU256(x *big.Int) map[string]any {
	low, high, _ := U256(x)
	return map[string]any{"low": Decimal(low), "high": Decimal(high)}
}

func typedAmount(token Felt, x *big.Int) map[string]any {
	return map[string]any{"token_address": Hex64(token), "amount": typedU256(x)}
}

// InitMessage is what one party signs to let the other open an escrow until timeout,
// in Unix seconds. Escrows with a success action are refused: what the reference signs
// for them is not what the contract verifies (§20.22).
func (n Network) InitMessage(s SwapData, timeout int64) (TypedData, error) {
	hash, err := s.EscrowHash()
	switch {
	case err != nil:
		return TypedData{}, err
	case s.SuccessAction != nil:
		return TypedData{}, fmt.Errorf("the escrow has a success action")
	case timeout < 0:
		return TypedData{}, fmt.Errorf("the timeout is negative")
	}
	return n.initMessage(s, hash, FeltOf(uint64(timeout))), nil
}

func (n Network) initMessage(s SwapData, hash, deadline Felt) TypedData {
	return n.typedData(typeInitialize, initializeType, map[string]any{
		"Swap hash": Hex64(hash), "Offerer": Hex64(s.Offerer), "Claimer": Hex64(s.Claimer), "Token amount": typedAmount(s.Token, s.Amount),
		"Pay in": s.PayIn, "Pay out": s.PayOut, "Tracking reputation": s.Reputation,
		"Claim handler": Hex64(s.ClaimHandler), "Claim data": Hex64(s.ClaimData), "Refund handler": Hex64(s.RefundHandler), "Refund data": Hex64(s.RefundData),
		"Security deposit": typedAmount(s.FeeToken, s.SecurityDeposit), "Claimer bounty": typedAmount(s.FeeToken, s.ClaimerBounty),
		"Claim action hash": "0", "Deadline": Hex64(deadline),
	})
}

// RefundMessage is what a claimer signs to let the offerer take a refund before the
// expiry, until timeout in Unix seconds.
func (n Network) RefundMessage(escrowHash Felt, timeout int64) (TypedData, error) {
	if timeout < 0 {
		return TypedData{}, fmt.Errorf("the timeout is negative")
	}
	return n.refundMessage(escrowHash, FeltOf(uint64(timeout))), nil
}

func (n Network) refundMessage(escrowHash, timeout Felt) TypedData {
	return n.typedData(typeRefund, []TypedMember{{"Swap hash", "felt"}, {"Timeout", "timestamp"}}, map[string]any{"Swap hash": Hex64(escrowHash), "Timeout": Hex64(timeout)})
}

// DataMessage is what an LP signs to prove that it holds its address (protocol:
// lp-protocol.md §2.3).
func (n Network) DataMessage(data []byte) TypedData {
	h := sha256.Sum256(data)
	return n.typedData(typeData, []TypedMember{{"Data hash", "u256"}}, map[string]any{"Data hash": typedU256(new(big.Int).SetBytes(h[:]))})
}

// parsed is the message as the library knows it. It is handed over in JSON, which is
// how wallets get it.
func (m TypedData) parsed() (*typeddata.TypedData, error) {
	text, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	var td typeddata.TypedData
	if err := json.Unmarshal(text, &td); err != nil {
		return nil, fmt.Errorf("typed data: %w", err)
	}
	return &td, nil
}

// Hash is what the account at an address signs.
func (m TypedData) Hash(account Felt) (Felt, error) {
	td, err := m.parsed()
	if err != nil {
		return Felt{}, err
	}
	h, err := td.GetMessageHash(Hex64(account))
	if err != nil {
		return Felt{}, fmt.Errorf("typed data: %w", err)
	}
	return *h, nil
}
