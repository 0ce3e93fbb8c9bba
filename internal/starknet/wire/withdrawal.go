package wire

import (
	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/btc/vault"
)

// PayoutFormat is how a withdrawal's OP_RETURN names recipient and amounts on Starknet
// (§15.2). Amounts are unsigned: the reference reads those of 2^63 and more as
// negative (§20.11).
func PayoutFormat() vault.PayoutFormat {
	return vault.PayoutFormat{RecipientLen: 32, LittleEndian: true}
}

// WithdrawalData encodes what a withdrawal's OP_RETURN says. The zero
// address is refused as recipient: what is paid there is lost.
func WithdrawalData(recipient string, raw [2]uint64, executionHash *Felt) ([]byte, error) {
	canonical, err := Address(recipient)
	if err != nil {
		return nil, fault.Invalid("recipient", "%w", err)
	}
	to := MustFelt(canonical)
	b := to.Bytes()
	p := vault.Payout{Recipient: b[:], Raw: raw}
	if executionHash != nil {
		h := executionHash.Bytes()
		p.ExecutionHash = h[:]
	}
	return PayoutFormat().Encode(p)
}

// parsePayout reads what [WithdrawalData] writes, and refuses a recipient that is not
// an address and an execution hash that is not a felt.
func parsePayout(payload []byte) (recipient Felt, p vault.Payout, err error) {
	if p, err = PayoutFormat().Decode(payload); err != nil {
		return Felt{}, p, err
	}
	if recipient, err = FeltOfBytes(p.Recipient); err != nil || !validAddress(recipient) {
		return Felt{}, p, errAddressRange
	}
	if p.ExecutionHash != nil {
		if _, err := FeltOfBytes(p.ExecutionHash); err != nil {
			return Felt{}, p, fault.Invalid("executionHash", "%w", err)
		}
	}
	return recipient, p, nil
}

// ParseWithdrawal reads a Bitcoin transaction as a withdrawal from a vault. It refuses
// whatever the contract would close the vault over, and whatever it would not take.
func ParseWithdrawal(tx *wire.MsgTx) (chains.Withdrawal, error) {
	w, err := bitcoin.ParseWithdrawal(tx)
	if err != nil {
		return chains.Withdrawal{}, err
	}
	recipient, p, err := parsePayout(w.Payload)
	if err != nil {
		return chains.Withdrawal{}, err
	}
	if recipient.IsZero() {
		return chains.Withdrawal{}, errZeroAddress
	}
	amounts, err := w.Shares.Amounts(p.Raw)
	if err != nil {
		return chains.Withdrawal{}, err
	}
	return chains.Withdrawal{Withdrawal: w, Recipient: Hex64(recipient), Raw: p.Raw, Amounts: amounts, Execution: p.ExecutionHash}, nil
}

// withdrawalFelts is how many felts the contract's view of a withdrawal has.
const withdrawalFelts = 10

// WithdrawalFelts is the contract's view of a withdrawal (BitcoinVaultTransactionData),
// which parse_bitcoin_tx must give too (§20.3).
func WithdrawalFelts(w chains.Withdrawal) ([]Felt, error) {
	to, err := ParseAddress(w.Recipient)
	if err != nil {
		return nil, fault.Invalid("recipient", "%w", err)
	}
	var execution Felt
	if w.Execution != nil {
		if execution, err = FeltOfBytes(w.Execution); err != nil {
			return nil, fault.Invalid("executionHash", "%w", err)
		}
	}
	a := w.Amounts
	return make(felts, 0, withdrawalFelts).add(to).uint(a.Payout[0]).uint(a.Payout[1]).uint(a.Caller[0]).uint(a.Caller[1]).
		uint(a.Fronting[0]).uint(a.Fronting[1]).uint(a.Execution).add(execution).uint(uint64(w.ExecutionExpiry)), nil
}

// txid appends a transaction id as vaults hold it: the bytes in internal order as one
// big-endian number.
func (w felts) txid(id bitcoin.Hash) felts {
	return w.add(bytesFelt(id[16:]), bytesFelt(id[:16]))
}

func (r *reader) txid() (id bitcoin.Hash) {
	n := r.u256()
	n.FillBytes(id[:])
	return id
}

// EntryParseBitcoinTx asks the vault manager to read a withdrawal, as it will when it
// is claimed. It takes the transaction without witnesses as [ByteArray].
const EntryParseBitcoinTx = "parse_bitcoin_tx"

// CheckParsedWithdrawal reads the answer of [EntryParseBitcoinTx]: the contract must
// read the transaction, and as it is read here. The reference notices a revert alone
// (§20.3). Errors have the code [fault.Upstream]: claiming it would close the vault.
func CheckParsedWithdrawal(answer []Felt, w chains.Withdrawal) error {
	want, err := WithdrawalFelts(w)
	if err != nil {
		return err
	}
	r := &reader{rest: answer}
	if r.flag() { // an Option: 1 is None
		return fault.New(fault.Upstream, "the vault's contract cannot read the Bitcoin transaction %s", w.TxID)
	}
	got := r.take(withdrawalFelts)
	if err := r.end(); err != nil {
		return fault.New(fault.Upstream, "the vault's contract answered in an unknown form: %w", err)
	}
	for i := range want {
		if got[i] != want[i] {
			return fault.New(fault.Upstream, "the vault's contract reads the Bitcoin transaction %s otherwise than this library", w.TxID)
		}
	}
	return nil
}
