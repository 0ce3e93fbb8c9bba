package psbt

import (
	"errors"
	"fmt"
	"math"

	"github.com/btcsuite/btcd/btcutil/psbt"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
)

// Agreement is what a signed transaction is compared with.
type Agreement struct {
	Template Template
	// AnySalt accepts any lock time of [VaultLockTime] instead of the template's.
	AnySalt bool
	// Prevouts are outputs that a backend says the transaction spends. A wallet
	// input that is not among them is believed as far as its signature proves
	// it: its amount may be wrong, and with it the fee.
	Prevouts map[bitcoin.OutPoint]*wire.TxOut
	// Unconfirmed says what parents weigh and pay that are not in a block yet.
	Unconfirmed map[bitcoin.Hash]bitcoin.CPFP
	// MinFeeRate and MaxFeeRate bound what the transaction pays in sat/vB,
	// together with parents that hold it back; see [QuoteFeeRateCap]. A
	// MaxFeeRate of 0 means no limit. Beside it [Template.MaxFee] holds, which no
	// claim about rates and parents can raise.
	MinFeeRate, MaxFeeRate float64
}

// SignedTx is a transaction that passed [Unchecked.Check].
type SignedTx struct {
	ID      bitcoin.Hash
	Tx      *wire.MsgTx   // complete but for the unlocks of the template's inputs
	Spent   []*wire.TxOut // what the inputs spend
	Fee     int64         // sats
	VSize   int64         // virtual bytes once every input is signed
	FeeRate float64       // sat/vB, with unconfirmed parents that pay less
	// PSBT has every wallet input finished, and of them only what the signer of
	// the template's inputs needs. Nil if there are none: Tx can be sent.
	PSBT PSBT
}

const (
	// maxStandardWeight is what nodes relay.
	maxStandardWeight = 400_000
	// maxPostedVSize is what liquidity providers take (protocol: bitcoin.md §4).
	maxPostedVSize = 16_384
	// keySpendWeight is the witness of a taproot input signed by its key, less the empty one.
	keySpendWeight = 1 + 1 + 64 - 1
)

// Check compares a transaction with what was asked to be signed, finishes and
// verifies the signatures of its wallet inputs, and returns it ready for use.
// Wallet inputs may be signed or finished already. Which inputs they are, and
// outputs after the template's, are the user's choice; all else must be as
// agreed. It sends no requests, and its running time is linear in the number of
// inputs. Errors have code InvalidInput (protocol: bitcoin.md §§10, 11, 20 row
// 13).
func (u *Unchecked) Check(a Agreement) (*SignedTx, error) {
	s, err := u.check(a)
	if err != nil {
		return nil, fault.New(fault.InvalidInput, "%w", err)
	}
	return s, nil
}

func (u *Unchecked) check(a Agreement) (*SignedTx, error) {
	if err := u.matches(a); err != nil {
		return nil, err
	}
	s := &SignedTx{Tx: u.tx.Copy(), Spent: make([]*wire.TxOut, len(u.tx.TxIn))}
	own := len(a.Template.Inputs)
	for i := range a.Template.Inputs {
		s.Spent[i] = &a.Template.Inputs[i].Output
		if !txscript.IsWitnessProgram(s.Spent[i].PkScript) {
			return nil, fmt.Errorf("input %d is a legacy input, so its signature would change the transaction's id; use segwit inputs", i)
		}
	}
	proven := make([]bool, len(s.Spent))
	for i := own; i < len(s.Spent); i++ {
		var err error
		if s.Spent[i], proven[i], err = u.prevout(i, a.Prevouts); err != nil {
			return nil, fmt.Errorf("input %d %w", i, err)
		}
	}
	v := newVerifier(s.Tx, s.Spent)
	for i := own; i < len(s.Spent); i++ {
		if err := u.sign(v, i, proven[i], own > 0); err != nil {
			return nil, fmt.Errorf("input %d %w", i, err)
		}
	}
	s.ID = s.Tx.TxHash()
	if err := s.weigh(a); err != nil {
		return nil, err
	}
	if err := s.bounded(&a.Template); err != nil {
		return nil, err
	}
	if own > 0 {
		return s, s.post(own)
	}
	return s, nil
}

// matches compares everything but signatures and money.
func (u *Unchecked) matches(a Agreement) error {
	t, tx := &a.Template, u.tx
	if 4*tx.SerializeSizeStripped() > maxStandardWeight {
		return errors.New("transaction is too large")
	}
	if len(tx.TxIn) <= len(t.Inputs) {
		return errors.New("transaction spends no input of the wallet")
	}
	if len(tx.TxOut) < len(t.Outputs) {
		return fmt.Errorf("transaction has %d of the %d agreed outputs", len(tx.TxOut), len(t.Outputs))
	}
	seen := make(map[bitcoin.OutPoint]bool, len(tx.TxIn))
	for i, in := range tx.TxIn {
		if seen[in.PreviousOutPoint] {
			return fmt.Errorf("input %d spends %s a second time", i, in.PreviousOutPoint)
		}
		seen[in.PreviousOutPoint] = true
		if i < len(t.Inputs) && (in.PreviousOutPoint != t.Inputs[i].OutPoint || in.Sequence != t.Inputs[i].Sequence) {
			return fmt.Errorf("input %d differs from the agreed one", i)
		}
	}
	for i := range t.Outputs {
		if !sameOutput(tx.TxOut[i], &t.Outputs[i]) {
			return fmt.Errorf("output %d differs from the agreed one", i)
		}
	}
	if len(t.Inputs) == 0 {
		// The user is the only signer: a lock time or a version that keeps the
		// transaction from being mined is refused when it is sent.
		return nil
	}
	switch {
	case tx.Version != 2:
		return fmt.Errorf("transaction has version %d instead of 2", tx.Version)
	case tx.TxIn[len(t.Inputs)].Sequence != t.Sequence:
		return fmt.Errorf("input %d has sequence %d instead of the agreed %d", len(t.Inputs), tx.TxIn[len(t.Inputs)].Sequence, t.Sequence)
	case tx.LockTime != t.LockTime && !(a.AnySalt && isVaultLockTime(tx.LockTime)):
		return fmt.Errorf("lock time %d differs from the agreed one", tx.LockTime)
	}
	return nil
}

// sign finishes input i and verifies it. proven says whether the amount it
// spends is known otherwise than by the signature; segwitOnly, that others rely on the id.
func (u *Unchecked) sign(v *verifier, i int, proven, segwitOnly bool) error {
	if _, ok := scriptType(v.prevouts[i].PkScript); !ok {
		return errors.New("spends an output of an unsupported type")
	}
	unlocks, err := u.finish(i, v.prevouts[i])
	if err != nil {
		return err
	}
	for _, l := range unlocks {
		segwit := l.segwit(v.prevouts[i].PkScript)
		if !segwit && segwitOnly {
			return errors.New("is a legacy input; this swap accepts only segwit inputs")
		}
		if !segwit && !proven {
			return errors.New("is a legacy input without the transaction that it spends from")
		}
		if err = v.sign(i, l); err == nil {
			return nil
		}
	}
	return err
}

// weigh computes fee, size and rate, and checks them.
func (s *SignedTx) weigh(a Agreement) error {
	for i, out := range s.Spent {
		if out.Value < 0 || out.Value > rawtx.MaxMoney {
			return fmt.Errorf("input %d spends %d sats, which is not a valid amount", i, out.Value)
		}
		s.Fee += out.Value
	}
	for _, out := range s.Tx.TxOut {
		s.Fee -= out.Value
	}
	if s.Fee < 0 || s.Fee > rawtx.MaxMoney {
		return fmt.Errorf("outputs and inputs leave a fee of %d sats", s.Fee)
	}
	weight := rawtx.Weight(s.Tx) + keySpendWeight*len(a.Template.Inputs)
	s.VSize = int64(weight+3) / 4
	if weight > maxStandardWeight || len(a.Template.Inputs) > 0 && s.VSize > maxPostedVSize {
		return fmt.Errorf("transaction of %d virtual bytes is too large", s.VSize)
	}
	var parents []bitcoin.CPFP
	seen := map[bitcoin.Hash]bool{}
	for _, in := range s.Tx.TxIn {
		id := in.PreviousOutPoint.Hash
		if c, ok := a.Unconfirmed[id]; ok && !seen[id] {
			seen[id] = true
			parents = append(parents, c)
		}
	}
	s.FeeRate = packageRate(float64(s.Fee), float64(s.VSize), parents)
	// Liquidity providers compare the rounded rate; estimates of sizes are off by fractions.
	least := a.MinFeeRate
	short := s.FeeRate < least && math.Floor(s.FeeRate+0.5) < least
	if len(a.Template.Inputs) > 0 && s.FeeRate < minPostedFeeRate {
		short, least = true, max(least, minPostedFeeRate)
	}
	if short {
		return fmt.Errorf("fee of %d sats is %.2f sat/vB, below the required %v sat/vB", s.Fee, s.FeeRate, least)
	}
	if a.MaxFeeRate > 0 && s.FeeRate > a.MaxFeeRate {
		return fmt.Errorf("fee of %d sats is %.2f sat/vB, above the allowed maximum of %v sat/vB", s.Fee, s.FeeRate, a.MaxFeeRate)
	}
	return nil
}

// bounded holds what miners get against the template's bound in sats.
func (s *SignedTx) bounded(t *Template) error {
	if most := t.MaxFee(); s.Fee > most {
		return &FeeError{Fee: s.Fee, Max: most, Pay: t.pays()}
	}
	return nil
}

// post writes the PSBT for the signer of the first own inputs.
func (s *SignedTx) post(own int) error {
	unsigned := s.Tx.Copy()
	for _, in := range unsigned.TxIn {
		in.SignatureScript, in.Witness = nil, nil
	}
	p, err := psbt.NewFromUnsignedTx(unsigned)
	if err != nil {
		return err
	}
	for i, in := range s.Tx.TxIn {
		p.Inputs[i].WitnessUtxo = s.Spent[i]
		if i < own {
			continue
		}
		if len(in.SignatureScript) > 0 {
			p.Inputs[i].FinalScriptSig = in.SignatureScript
		}
		if p.Inputs[i].FinalScriptWitness, err = encodeWitness(in.Witness); err != nil {
			return err
		}
	}
	if s.PSBT, err = encodePSBT(p); err != nil {
		return err
	}
	if len(s.PSBT) > MaxPosted {
		return fmt.Errorf("signed PSBT has %d bytes, but liquidity providers accept at most %d; use fewer inputs", len(s.PSBT), MaxPosted)
	}
	return nil
}

// TxID returns the id that the transaction has once it is signed, and false if
// that is not known yet: legacy inputs must be signed, nested ones at least name
// their script. A known id tells a transaction that was submitted before.
// prevouts are as in [Agreement].
func (u *Unchecked) TxID(prevouts map[bitcoin.OutPoint]*wire.TxOut) (bitcoin.Hash, bool) {
	tx := u.tx.Copy()
	for i, in := range tx.TxIn {
		prev, _, err := u.prevout(i, prevouts)
		if err != nil {
			return bitcoin.Hash{}, false
		}
		if txscript.IsWitnessProgram(prev.PkScript) {
			continue // its script is empty, whatever the wallet has written there
		}
		if unlocks, err := u.finish(i, prev); err == nil {
			in.SignatureScript = unlocks[0].script
			continue
		}
		l := unlock{}
		if redeem := u.inputs[i].RedeemScript; redeem != nil {
			l.script = pushOf(redeem)
		}
		if !l.segwit(prev.PkScript) {
			return bitcoin.Hash{}, false
		}
		in.SignatureScript = l.script
	}
	return tx.TxHash(), true
}
