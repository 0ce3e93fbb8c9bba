package wire

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"strconv"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/members"
)

// ParseSwapData reads the JSON form that LPs send and records hold (§10). Members
// that it does not know are ignored, the others are validated. Errors have the code
// [fault.InvalidInput] and name the member.
func ParseSwapData(data []byte) (*SwapData, error) {
	fields, err := members.ReadTyped("swap data", data, "sol", "Solana")
	if err != nil {
		return nil, err
	}
	r := memberReader{fields}
	d := &SwapData{
		ProgramID: firstV1.Swap, Version: V1,
		Offerer: r.key("offerer"), Claimer: r.key("claimer"), Token: r.key("token"),
		Amount: r.number("amount"), PaymentHash: r.hash("paymentHash"),
		Sequence: r.number("sequence"), Expiry: r.number("expiry"), Nonce: r.number("nonce"),
		Confirmations: uint16(r.small("confirmations", 1<<16-1)), Kind: chains.Kind(r.small("kind", uint64(chains.OnchainTxID))),
		PayIn: r.Flag("payIn"), PayOut: r.Flag("payOut"),
		SecurityDeposit: r.number("securityDeposit"), ClaimerBounty: r.number("claimerBounty"),
	}
	if r.Has("programId") {
		d.ProgramID = r.key("programId")
	}
	if r.Has("version") {
		if d.Version = r.Text("version"); r.Err == nil && d.Version != V1 && d.Version != V2 {
			r.Fail("version", "is %q, not v1 or v2", d.Version)
		}
	}
	for name, to := range map[string]**Key{"offererAta": &d.OffererATA, "claimerAta": &d.ClaimerATA} {
		if r.Has(name) {
			k := r.key(name)
			*to = &k
		}
	}
	if r.Has("txoHash") {
		h := r.hash("txoHash")
		d.TxoHash = &h
	}
	if r.Has("offererInitializer") {
		b := r.Flag("offererInitializer")
		d.OffererInitializer = &b
	}
	if r.Err != nil {
		return nil, r.Err
	}
	return d, nil
}

// UnmarshalJSON is [ParseSwapData].
func (d *SwapData) UnmarshalJSON(data []byte) error {
	parsed, err := ParseSwapData(data)
	if err != nil {
		return err
	}
	*d = *parsed
	return nil
}

// MarshalJSON writes the JSON form.
func (d SwapData) MarshalJSON() ([]byte, error) {
	u := func(v uint64) string { return strconv.FormatUint(v, 10) }
	var txoHash *string
	if d.TxoHash != nil {
		text := hex.EncodeToString(d.TxoHash[:])
		txoHash = &text
	}
	return json.Marshal(struct {
		Type               string  `json:"type"`
		ProgramID          Key     `json:"programId"`
		Version            string  `json:"version"`
		Offerer            Key     `json:"offerer"`
		Claimer            Key     `json:"claimer"`
		Token              Key     `json:"token"`
		Amount             string  `json:"amount"`
		PaymentHash        string  `json:"paymentHash"`
		Sequence           string  `json:"sequence"`
		Expiry             string  `json:"expiry"`
		Nonce              string  `json:"nonce"`
		Confirmations      uint16  `json:"confirmations"`
		PayOut             bool    `json:"payOut"`
		Kind               int     `json:"kind"`
		PayIn              bool    `json:"payIn"`
		OffererATA         *Key    `json:"offererAta,omitempty"`
		ClaimerATA         *Key    `json:"claimerAta,omitempty"`
		SecurityDeposit    string  `json:"securityDeposit"`
		ClaimerBounty      string  `json:"claimerBounty"`
		TxoHash            *string `json:"txoHash,omitempty"`
		OffererInitializer *bool   `json:"offererInitializer,omitempty"`
	}{
		"sol", d.ProgramID, d.Version, d.Offerer, d.Claimer, d.Token, u(d.Amount), hex.EncodeToString(d.PaymentHash[:]), u(d.Sequence), u(d.Expiry), u(d.Nonce),
		d.Confirmations, d.PayOut, int(d.Kind), d.PayIn, d.OffererATA, d.ClaimerATA, u(d.SecurityDeposit), u(d.ClaimerBounty), txoHash, d.OffererInitializer,
	})
}

// Public returns the escrow as the REST API shows it: the accounts and the argument
// of the instruction that opens it.
func (d *SwapData) Public() (json.RawMessage, error) {
	p := Programs{Version: d.Version, Swap: d.ProgramID}
	hash := make([]int, 32)
	for i, b := range d.PaymentHash {
		hash[i] = int(b)
	}
	u := func(v uint64) string { return strconv.FormatUint(v, 10) }
	ata := func(shown bool, k *Key) *Key {
		if !shown {
			return nil
		}
		return k
	}
	accounts := map[string]any{
		"offerer": d.Offerer, "claimer": d.Claimer, "offererAta": ata(d.PayIn, d.OffererATA), "claimerAta": ata(d.PayOut, d.ClaimerATA),
		"claimerUserData": p.UserVault(d.Claimer, d.Token), "offererUserData": p.UserVault(d.Offerer, d.Token),
		"initializer": d.initializer(), "escrowState": p.Escrow(d.PaymentHash), "mint": d.Token, "vault": p.Vault(d.Token), "vaultAuthority": p.Authority(),
		"systemProgram": SystemProgram, "tokenProgram": TokenProgram, "ixSysvar": InstructionsData,
	}
	return json.Marshal(map[string]any{"accounts": accounts, "data": map[string]any{
		"kind": map[string]any{kindName(d.Kind): nil}, "confirmations": d.Confirmations, "nonce": u(d.Nonce), "hash": hash,
		"payIn": d.PayIn, "payOut": d.PayOut, "amount": u(d.Amount), "expiry": u(d.Expiry), "sequence": u(d.Sequence),
	}})
}

// memberReader also reads what only Solana has.
type memberReader struct{ members.Reader }

func (r *memberReader) small(name string, limit uint64) (n uint64) {
	if r.Decode(name, &n) && n > limit {
		r.Fail(name, "%d is more than %d", n, limit)
		return 0
	}
	return n
}

func (r *memberReader) key(name string) Key { return members.As(&r.Reader, name, ParseKey) }

// number reads decimal text that fits the 64 bits that it has in the program.
func (r *memberReader) number(name string) uint64 { return members.As(&r.Reader, name, parseNumber) }

func (r *memberReader) hash(name string) [32]byte {
	return members.As(&r.Reader, name, func(s string) (h [32]byte, err error) {
		b, err := hex.DecodeString(s)
		if err != nil || len(b) != len(h) {
			return h, errors.New("is not 64 hexadecimal digits")
		}
		return [32]byte(b), nil
	})
}
