package wire

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
)

// Escrow returns the neutral view of an escrow, with its JSON form in Data.
func (d Deployment) Escrow(s SwapData) (chains.Escrow, error) {
	hash, err := s.EscrowHash()
	if err != nil {
		return chains.Escrow{}, err
	}
	data, err := json.Marshal(s)
	if err != nil {
		return chains.Escrow{}, err
	}
	return chains.Escrow{
		Version: d.Version, Kind: s.Kind, Offerer: s.Offerer.Hex(), Claimer: s.Claimer.Hex(), Token: s.Token.Hex(),
		Amount: new(big.Int).Set(s.Amount), PayIn: s.PayIn, PayOut: s.PayOut,
		ClaimHash: s.ClaimData.Bytes(), Hash: hash.Bytes(), Sequence: new(big.Int).Set(s.Sequence), Expiry: s.Expiry(),
		SecurityDeposit: new(big.Int).Set(s.SecurityDeposit), ClaimerBounty: new(big.Int).Set(s.ClaimerBounty),
		DepositToken: s.DepositToken.Hex(), Data: data,
	}, nil
}

// SwapDataOf reads the escrow back out of its neutral view. Only Data counts.
func SwapDataOf(e chains.Escrow) (SwapData, error) { return ParseSwapData(e.Data) }

// Expect builds the escrow that is agreed on.
func (d Deployment) Expect(spec chains.Spec) (SwapData, error) {
	if spec.Condition.Kind != spec.Kind {
		return SwapData{}, fault.Invalid("condition", "is of kind %s, but the escrow is of kind %s", spec.Condition.Kind, spec.Kind)
	}
	if spec.Amount == nil {
		return SwapData{}, fault.Invalid("amount", "is required")
	}
	claim, err := d.ClaimHash(spec.Condition)
	if err != nil {
		return SwapData{}, err
	}
	t := Terms{Kind: spec.Kind, Amount: spec.Amount, ClaimData: claim, Sequence: spec.Sequence, Expiry: spec.Expiry,
		PayIn: spec.PayIn, PayOut: spec.PayOut, SecurityDeposit: spec.SecurityDeposit, ClaimerBounty: spec.ClaimerBounty}
	if spec.Hints {
		c := spec.Condition
		t.ExtraData = ExtraData(c.Script, c.Sats, conditionNonce(c), c.Confirmations)
	}
	r := textReader{}
	t.Offerer, t.Claimer = r.address("offerer", spec.Offerer), r.address("claimer", spec.Claimer)
	t.Token = r.address("token", spec.Token)
	if spec.DepositToken != "" {
		t.DepositToken = r.address("depositToken", spec.DepositToken)
	}
	if r.err != nil {
		return SwapData{}, r.err
	}
	return d.NewSwapData(t)
}

// ClaimHash returns the claim data that stands for a condition.
func (d Deployment) ClaimHash(c chains.Condition) (common.Hash, error) {
	relay := d.BtcRelay.Address
	switch c.Kind {
	case chains.HTLC:
		return c.PaymentHash, nil
	case chains.Onchain:
		return ClaimDataOutput(c.Script, c.Sats, 0, uint32(c.Confirmations), relay), nil
	case chains.OnchainNonced:
		if c.Nonce == 0 {
			return common.Hash{}, fault.Invalid("nonce", "must not be zero")
		}
		return ClaimDataOutput(c.Script, c.Sats, c.Nonce, uint32(c.Confirmations), relay), nil
	case chains.OnchainTxID:
		return ClaimDataTxID(c.TxID, uint32(c.Confirmations), relay), nil
	}
	return common.Hash{}, fault.Invalid("kind", "has unknown kind %d", c.Kind)
}

// conditionNonce is the nonce that a condition is about, 0 if its kind has none.
func conditionNonce(c chains.Condition) uint64 {
	if c.Kind == chains.OnchainNonced {
		return c.Nonce
	}
	return 0
}

// ClaimHashText is how swap ids and LPs write a claim hash: hex without 0x.
func ClaimHashText(hash []byte) string { return hex.EncodeToString(hash) }

// IDs returns the ids of signed transactions without judging them, to recognise
// a submission that is repeated.
func IDs(signed []string) ([]string, error) {
	if len(signed) > maxSigned {
		return nil, fault.Invalid("signedTxs", "must have at most %d transactions", maxSigned)
	}
	ids := make([]string, len(signed))
	for i, text := range signed {
		field := fmt.Sprintf("signedTxs[%d]", i)
		tx, err := ParseTransaction(text)
		if err != nil {
			return nil, fault.Invalid(field, "%w", err)
		}
		if !tx.Signed {
			return nil, fault.Invalid(field, "is not signed")
		}
		ids[i] = tx.ID.Hex()
	}
	return ids, nil
}
