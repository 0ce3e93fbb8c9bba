package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/btc/relay"
)

// What a wallet was asked to sign, reckoned again from what is agreed on. What only
// the chain could say (whether a token account exists, which headers the relay lacks)
// is left open as far as it can do no harm.

// wantOpen are the transactions that open an escrow with an authorisation, of which
// only the timeout counts if the sender is the only signer.
func (p Programs) wantOpen(d *SwapData, sender Key, auth InitAuth, f FeeRate, maxFee uint64) ([]WantTx, error) {
	lp, err := p.Counterparty(d, sender)
	if err != nil {
		return nil, err
	}
	tx, err := p.InitTx(d, sender, auth.Timeout, f)
	if err != nil {
		return nil, err
	}
	open := WantTx{Name: "the opening of the escrow", Payer: sender, MaxFee: maxFee}
	if p.NeedsAuth(d, sender) {
		open.Cosigner, open.Signature = lp, auth.Signature
	}
	for _, ix := range tx.Instructions {
		if open.Cosigner.IsZero() && ix.Program == BudgetProgram {
			continue // the wallet's own affair
		}
		open.Parts = append(open.Parts, p.exactly(ix))
	}
	wants := []WantTx{open}
	if d.PayIn && d.Token == WSOL && f.Wrap == nil {
		ata := ATA(d.Offerer, WSOL)
		wants = slices.Insert(wants, 0, WantTx{Name: "the wrapping of SOL", Optional: true, Payer: d.Offerer, MaxFee: maxFee, Parts: []Part{
			p.maybeExactly(EnsureATA(d.Offerer, d.Offerer, WSOL)),
			{Name: "transfer of SOL", Is: func(ix Instruction) (Instruction, error) {
				want := Transfer(d.Offerer, ata, 0)
				if len(ix.Data) != len(want.Data) {
					return want, errors.New("it is not a transfer of SOL")
				}
				amount := binary.LittleEndian.Uint64(ix.Data[4:])
				if amount > d.Amount {
					return want, fmt.Errorf("it wraps %d lamports, the escrow takes %d", amount, d.Amount)
				}
				want = Transfer(d.Offerer, ata, amount)
				return want, sameInstruction(want, ix)
			}},
			p.exactly(SyncNative(ata)),
		}})
	}
	return wants, nil
}

// wantATA is the creation of a token account that may exist by now.
func (p Programs) wantATA(payer, owner, mint Key) Part {
	return p.maybeExactly(EnsureATA(payer, owner, mint))
}

// wantClaim is the transaction that claims a hash lock by its secret.
func (p Programs) wantClaim(d *SwapData, signer Key, secret [32]byte, maxFee uint64) (WantTx, error) {
	w := WantTx{Name: "the claim", Payer: signer, MaxFee: maxFee}
	ix, err := p.ClaimInstruction(d, signer, &secret, nil)
	if err != nil {
		return w, err
	}
	if d.PayOut {
		w.Parts = append(w.Parts, p.wantATA(signer, d.Claimer, d.Token))
	}
	w.Parts = append(w.Parts, p.exactly(ix))
	if d.unwraps(signer) {
		w.Parts = append(w.Parts, p.exactly(Unwrap(signer)))
	}
	return w, nil
}

// wantRefund is the transaction that takes an escrow back, with the claimer's
// authorisation or after the expiry.
func (p Programs) wantRefund(d *SwapData, signer Key, auth *RefundAuth, guard *Key, maxFee uint64) WantTx {
	w := WantTx{Name: "the refund", Payer: signer, MaxFee: maxFee}
	var timeout uint64
	if auth != nil {
		timeout = auth.Timeout
		verify := p.exactly(auth.VerifyInstruction(d))
		w.Parts = append(w.Parts, verify)
	}
	if d.PayIn {
		w.Parts = append(w.Parts, p.wantATA(signer, d.Offerer, d.Token))
	}
	ix := p.RefundInstruction(d, timeout)
	if guard != nil {
		ix.Accounts = append(ix.Accounts, Account{PublicKey: *guard, IsSigner: true})
	}
	w.Parts = append(w.Parts, p.exactly(ix))
	if d.PayIn && d.Token == WSOL && d.Offerer == signer {
		w.Parts = append(w.Parts, p.exactly(Unwrap(signer)))
	}
	return w
}

// wantedPayment is the Bitcoin transaction of a claim by proof.
type wantedPayment struct {
	TxID          bitcoin.Hash
	Block         bitcoin.Hash
	Vout          uint32
	Stripped      []byte
	Confirmations uint16
}

// wantBitcoinClaim are the transactions of a claim by Bitcoin proof. Headers, data
// that was written before and the token account may be missing.
func (p Programs) wantBitcoinClaim(d *SwapData, signer Key, pay wantedPayment, dataKey Key, maxFee uint64) ([]WantTx, error) {
	payload, err := Payload(pay.Vout, pay.Stripped)
	if err != nil {
		return nil, err
	}
	tx := func(name string, optional bool, parts ...Part) WantTx {
		return WantTx{Name: name, Optional: optional, Payer: signer, MaxFee: maxFee, Parts: parts}
	}
	headers := tx("headers for the relay", true, Part{Name: "headers for the relay", Is: func(ix Instruction) (Instruction, error) { return p.submits(ix, signer) }})
	headers.Repeats = true
	all := []WantTx{headers}

	end := min(firstChunk, len(payload))
	all = append(all, tx("the creation of the data account", true,
		p.createsData(signer, dataKey, len(payload)),
		p.exactly(p.InitDataInstruction(signer, dataKey)),
		p.exactly(p.WriteDataInstruction(signer, dataKey, 0, payload[:end]))))
	// Written after the creation, or, where the account was found, from its beginning on.
	write := tx("data for the claim", true, Part{Name: "data for the claim", Is: func(ix Instruction) (Instruction, error) {
		c, err := p.DecodeCall(ix)
		if err != nil || c.Name != ixWriteData || len(c.Args) < 8 {
			return ix, errors.New("it writes no data")
		}
		offset := uint64(binary.LittleEndian.Uint32(c.Args))
		data := c.Args[8:]
		if offset+uint64(len(data)) > uint64(len(payload)) || !bytes.Equal(payload[offset:offset+uint64(len(data))], data) {
			return ix, errors.New("it writes other data than the Bitcoin transaction")
		}
		want := p.WriteDataInstruction(signer, dataKey, uint32(offset), data)
		return want, sameInstruction(want, ix)
	}})
	write.Repeats = true
	all = append(all, write)
	if d.PayOut {
		all = append(all, tx("the creation of the token account", true, p.exactly(EnsureATA(signer, d.Claimer, d.Token))))
	}
	claim, err := p.ClaimInstruction(d, signer, nil, &dataKey)
	if err != nil {
		return nil, err
	}
	inline, err := p.inlineClaimInstruction(d, signer, payload)
	if err != nil {
		return nil, err
	}
	claims := p.exactly(claim)
	claims.Is = func(ix Instruction) (Instruction, error) {
		if p.Version == V2 && sameInstruction(inline, ix) == nil {
			return inline, nil
		}
		return claim, sameInstruction(claim, ix)
	}
	all = append(all, tx("the claim", false, Part{Name: ixVerifyTx, Is: func(ix Instruction) (Instruction, error) { return p.verifies(ix, signer, pay) }}, claims))
	if d.unwraps(signer) {
		all = append(all, tx("the unwrapping of SOL", false, p.exactly(Unwrap(signer))))
	}
	// Data accounts of earlier claims give their rent back to the signer, whose they are.
	closing := tx("the closing of a data account", true, Part{Name: "the closing of a data account", Is: func(ix Instruction) (Instruction, error) {
		if len(ix.Accounts) != 2 {
			return ix, errors.New("it closes no data account")
		}
		want := p.CloseDataInstruction(signer, ix.Accounts[1].PublicKey)
		return want, sameInstruction(want, ix)
	}})
	closing.Repeats = true
	return append(all, closing), nil
}

// createsData is the creation of a data account, in any layout that the program may have:
// which one it has is for the chain to say.
func (p Programs) createsData(signer, account Key, payload int) Part {
	create := func(l DataLayout) Instruction {
		space := l.Space(payload)
		return CreateAccount(signer, account, p.Swap, Rent(space), uint64(space))
	}
	part := p.exactly(create(DataPlain))
	part.Is = func(ix Instruction) (want Instruction, err error) {
		for _, l := range p.DataLayouts() {
			if want = create(l); sameInstruction(want, ix) == nil {
				return want, nil
			}
		}
		return want, sameInstruction(want, ix)
	}
	return part
}

// submits checks that an instruction hands headers to the relay. Which ones is for
// the relay to judge: it takes none that is not Bitcoin's.
func (p Programs) submits(ix Instruction, signer Key) (Instruction, error) {
	c, err := p.DecodeCall(ix)
	if err != nil || ix.Program != p.Relay || !slices.Contains([]string{ixSubmit, ixSubmitShort, ixSubmitFork}, c.Name) {
		return ix, errors.New("it submits no headers")
	}
	r := reader{data: c.Args}
	n := int(r.u32())
	if n == 0 || n > MaxMainHeaders {
		return ix, fmt.Errorf("it submits %d headers", n)
	}
	var headers []bitcoin.Header
	for range n {
		h, err := bitcoin.ParseHeader(r.take(rawtx.HeaderSize), 0)
		if err != nil {
			return ix, err
		}
		headers = append(headers, h)
	}
	on, err := decodeStoredHeader(r.take(storedHeaderSize))
	if err != nil {
		return ix, err
	}
	op, fork := relay.SaveMain, uint64(0)
	switch c.Name {
	case ixSubmitShort:
		op = relay.SaveShortFork
	case ixSubmitFork:
		op, fork = relay.SaveFork, r.u64()
		if r.flag() {
			op = relay.SaveNewFork
		}
	}
	if err := r.end(); err != nil {
		return ix, err
	}
	want, err := p.SubmitInstruction(op, signer, headers, on, fork)
	if err != nil {
		return ix, err
	}
	return want, sameInstruction(want, ix)
}

// verifies checks that an instruction makes the relay look at the payment that was
// agreed on. The path to it is for the relay to judge.
func (p Programs) verifies(ix Instruction, signer Key, pay wantedPayment) (Instruction, error) {
	c, err := p.DecodeCall(ix)
	if err != nil || c.Name != ixVerifyTx {
		return ix, errors.New("it is not a check by the relay")
	}
	r := reader{data: c.Args}
	proof := Proof{TxID: r.hash()}
	confirmations := r.u32()
	proof.Index = r.u32()
	n := r.u32()
	if n > 32 {
		return ix, fmt.Errorf("a path of %d hashes", n)
	}
	for range n {
		proof.Path = append(proof.Path, r.hash())
	}
	in, err := decodeStoredHeader(r.take(storedHeaderSize))
	switch {
	case r.end() != nil:
		return ix, r.end()
	case err != nil:
		return ix, err
	case proof.TxID != pay.TxID:
		return ix, fmt.Errorf("it is about the Bitcoin transaction %s, not %s", proof.TxID, pay.TxID)
	case confirmations != uint32(pay.Confirmations):
		return ix, fmt.Errorf("it demands %d confirmations, the escrow %d", confirmations, pay.Confirmations)
	case in.Header.Hash() != pay.Block:
		return ix, fmt.Errorf("it names the block %s, the payment is in %s", in.Header.Hash(), pay.Block)
	}
	want := p.VerifyInstruction(signer, proof, confirmations, in)
	return want, sameInstruction(want, ix)
}
