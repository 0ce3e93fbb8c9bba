package wire

import (
	"bytes"
	"fmt"
)

// DataLayout says how a data account is laid out: it is the number of bytes before the
// owner's key. The payload follows the key.
type DataLayout int

const (
	// DataPlain is the layout of v1, and of v2 as its source was published: the key comes first.
	DataPlain DataLayout = 0
	// DataTagged is the layout that the size fits which the network's own client gives the
	// accounts of v2: eight bytes come first.
	DataTagged DataLayout = 8
)

// DataLayouts are the layouts that the program may have. Which one a program of v2 has is
// not published (§22): only the chain tells.
func (p Programs) DataLayouts() []DataLayout {
	if p.Version == V1 {
		return []DataLayout{DataPlain}
	}
	return []DataLayout{DataPlain, DataTagged}
}

// DataLayoutOf returns the layout by which a data account is a key's, and false if it is
// the key's by none.
func (p Programs) DataLayoutOf(data []byte, owner Key) (DataLayout, bool) {
	for _, l := range p.DataLayouts() {
		if a, err := l.Decode(data); err == nil && a.Owner == owner {
			return l, true
		}
	}
	return 0, false
}

// Space is the size of a data account for a payload of so many bytes.
func (l DataLayout) Space(payload int) int { return int(l) + len(Key{}) + payload }

// DataAccount is a data account: whose it is, and what was written.
type DataAccount struct {
	Owner   Key
	Payload []byte
}

// Decode reads a data account.
func (l DataLayout) Decode(data []byte) (a DataAccount, err error) {
	n := l.Space(0)
	switch {
	case len(data) == 0:
		return a, ErrAbsent
	case len(data) < n:
		return a, fmt.Errorf("a data account has %d bytes and more, this one %d", n, len(data))
	}
	a.Owner = Key(data[l:n])
	a.Payload = bytes.Clone(data[n:])
	return a, nil
}

// dataMark is what a trial writes into a data account, to see where it comes to stand.
var dataMark = []byte("payload?")

// DataTrialTx makes a transaction that is not sent, but only tried: it creates a data
// account, makes it the payer's, and writes. What the account would hold then tells
// [Programs.TriedLayout] how the program lays data accounts out.
func (p Programs) DataTrialTx(payer, account Key) *Tx {
	space := DataTagged.Space(len(dataMark))
	return &Tx{Payer: payer, Instructions: []Instruction{
		CreateAccount(payer, account, p.Swap, Rent(space), uint64(space)),
		p.InitDataInstruction(payer, account),
		p.WriteDataInstruction(payer, account, 0, dataMark),
	}}
}

// TriedLayout returns the layout of a data account after [Programs.DataTrialTx], and false
// if it has none that is known.
func (p Programs) TriedLayout(data []byte, payer Key) (DataLayout, bool) {
	for _, l := range p.DataLayouts() {
		if a, err := l.Decode(data); err == nil && a.Owner == payer && bytes.HasPrefix(a.Payload, dataMark) {
			return l, true
		}
	}
	return 0, false
}
