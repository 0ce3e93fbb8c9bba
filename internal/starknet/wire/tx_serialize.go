package wire

import (
	"encoding/json"
	"fmt"
	"math/big"

	"github.com/swapper-go/swapper/internal/bigs"
)

// The text of a transaction has its members in this order, and no blanks (§10.3).

type callJSON struct {
	ContractAddress string   `json:"contractAddress"`
	Entrypoint      string   `json:"entrypoint"`
	Calldata        []string `json:"calldata"`
}

type boundJSON struct {
	MaxAmount string `json:"max_amount"`
	MaxPrice  string `json:"max_price_per_unit"`
}

type boundsJSON struct {
	L2     boundJSON `json:"l2_gas"`
	L1     boundJSON `json:"l1_gas"`
	L1Data boundJSON `json:"l1_data_gas"`
}

type detailsJSON struct {
	Version               string     `json:"version"`
	ResourceBounds        boundsJSON `json:"resourceBounds"`
	Tip                   string     `json:"tip"`
	PaymasterData         []string   `json:"paymasterData"`
	NonceMode             DAMode     `json:"nonceDataAvailabilityMode"`
	FeeMode               DAMode     `json:"feeDataAvailabilityMode"`
	WalletAddress         string     `json:"walletAddress"`
	CairoVersion          string     `json:"cairoVersion"`
	ChainID               string     `json:"chainId"`
	Nonce                 string     `json:"nonce"`
	AccountDeploymentData []string   `json:"accountDeploymentData"`
	SkipValidate          bool       `json:"skipValidate"`
}

type deployJSON struct {
	ClassHash           string   `json:"classHash"`
	ContractAddress     string   `json:"contractAddress"`
	ConstructorCalldata []string `json:"constructorCalldata"`
}

type signedJSON struct {
	Tip                   string     `json:"tip"`
	PaymasterData         []string   `json:"paymasterData"`
	AccountDeploymentData []string   `json:"accountDeploymentData"`
	NonceMode             DAMode     `json:"nonceDataAvailabilityMode"`
	FeeMode               DAMode     `json:"feeDataAvailabilityMode"`
	ResourceBounds        boundsJSON `json:"resourceBounds"`
	ClassHash             string     `json:"classHash,omitempty"`
	AddressSalt           string     `json:"addressSalt,omitempty"`
	ConstructorCalldata   *[]string  `json:"constructorCalldata,omitempty"`
	ContractAddress       string     `json:"contractAddress,omitempty"`
	Calldata              *[]string  `json:"calldata,omitempty"`
	Signature             []string   `json:"signature"`
}

type txJSON struct {
	Type    TxType      `json:"type"`
	Tx      any         `json:"tx"`
	Details detailsJSON `json:"details"`
	Signed  *signedJSON `json:"signed,omitempty"`
	TxID    string      `json:"txId,omitempty"`
}

// String returns the text of a transaction: what a wallet gets to sign, and what it
// gives back. A signed deployment keeps its salt and its constructor's arguments, which
// the reference drops (§20.12).
func (t *Transaction) String() string {
	j := txJSON{Type: t.Type, Details: t.detailsJSON()}
	calls := []callJSON{}
	for _, c := range t.Calls {
		calls = append(calls, callJSON{Hex64(c.To), c.Entry, decimals(c.Calldata)})
	}
	j.Tx = calls
	if t.Type == DeployAccount {
		d := t.Deploy
		if t.Signed { // the list of what was to be signed stays as it was handed out
			d = Deploy{}
		}
		j.Tx = deployJSON{Hex64(d.ClassHash), Hex64(t.Sender), decimals(d.ConstructorCalldata)}
	}
	if t.Signed {
		d := j.Details
		j.Signed = &signedJSON{Tip: d.Tip, PaymasterData: d.PaymasterData, AccountDeploymentData: d.AccountDeploymentData, NonceMode: t.NonceMode, FeeMode: t.FeeMode,
			ResourceBounds: d.ResourceBounds, Signature: decimals(t.Signature)}
		if t.Type == DeployAccount {
			constructor := decimals(t.Deploy.ConstructorCalldata)
			j.Signed.ClassHash, j.Signed.AddressSalt, j.Signed.ConstructorCalldata = Hex64(t.Deploy.ClassHash), Hex64(t.Deploy.Salt), &constructor
		} else {
			calldata := decimals(t.Calldata)
			j.Signed.ContractAddress, j.Signed.Calldata = Hex(t.Sender), &calldata
		}
		j.TxID, _ = t.ID() // a transaction without an id has none to show
	}
	text, _ := json.Marshal(j) // of texts and lists alone
	return string(text)
}

func (t *Transaction) detailsJSON() detailsJSON {
	bound := func(b Bound) boundJSON {
		return boundJSON{Hex64(FeltOf(b.MaxAmount)), hex64Of(bigs.OrZero(b.MaxPrice))}
	}
	return detailsJSON{
		Version: "0x3", ResourceBounds: boundsJSON{bound(t.Bounds.L2), bound(t.Bounds.L1), bound(t.Bounds.L1Data)}, Tip: Hex64(FeltOf(t.Tip)),
		PaymasterData: decimals(t.PaymasterData), NonceMode: t.NonceMode, FeeMode: t.FeeMode, WalletAddress: Hex64(t.Sender), CairoVersion: "1",
		ChainID: Hex(t.ChainID), Nonce: Hex64(FeltOf(t.Nonce)), AccountDeploymentData: decimals(t.AccountDeploymentData),
	}
}

func hex64Of(n *big.Int) string { return fmt.Sprintf("0x%064x", n) }

func decimals(all []Felt) []string {
	texts := make([]string, len(all))
	for i, f := range all {
		texts[i] = Decimal(f)
	}
	return texts
}
