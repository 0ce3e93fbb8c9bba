package watchtower

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"

	"github.com/ethereum/go-ethereum/common"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/evm/wire"
	"github.com/swapper-go/swapper/internal/nostr"
)

// escrow is one that can be claimed once the contract has it.
type escrow struct {
	data   wire.SwapData
	secret [32]byte
}

// maxEscrows bounds what messages can make the watchtower remember.
const maxEscrows = 10_000

// parse accepts the escrows that this watchtower can claim: hash locks of the
// network's contracts.
func (t *Tower) parse(data json.RawMessage) (wire.SwapData, error) {
	s, err := wire.ParseSwapData(data)
	if err != nil {
		return s, err
	}
	d := t.options.EVM.Deployment()
	if kind, ok := d.KindOf(s.ClaimHandler); !ok || kind != chains.HTLC || s.Kind != chains.HTLC {
		return s, errors.New("not a hash lock of this network")
	}
	return s, d.CheckSwapData(s)
}

// take remembers what a message says if its preimage opens the escrow.
func (t *Tower) take(m nostr.Message) {
	preimage, err := hex.DecodeString(m.Preimage)
	if err != nil || len(preimage) != 32 {
		return
	}
	switch {
	case t.solana != nil && t.takeSolana(m.SwapData, [32]byte(preimage)), t.starknet != nil && t.takeStarknet(m.SwapData, [32]byte(preimage)), t.options.EVM == nil:
		return
	}
	s, err := t.parse(m.SwapData)
	if err != nil || common.Hash(sha256.Sum256(preimage)) != s.ClaimData {
		return
	}
	hash, err := s.EscrowHash()
	if err != nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.behaviour.Deaf && len(t.escrows) < maxEscrows {
		t.escrows[hash] = &escrow{s, [32]byte(preimage)}
	}
}

// claimEscrows claims what is open, and forgets what is over. One that is not yet
// open may still be opened until it would expire.
func (t *Tower) claimEscrows(ctx context.Context, b Behaviour) error {
	t.mu.Lock()
	var known []*escrow
	var hashes []common.Hash
	for hash, e := range t.escrows {
		hashes, known = append(hashes, hash), append(known, e)
	}
	t.mu.Unlock()
	if len(hashes) == 0 {
		return nil
	}
	d := t.options.EVM.Deployment()
	data, err := wire.StateCall(hashes)
	if err != nil {
		return err
	}
	answer, err := t.options.EVM.Read(ctx, t.options.Account.Address, wire.Call{To: d.EscrowManager.Address, Data: data})
	if err != nil {
		return err
	}
	states, err := wire.DecodeStates(answer, len(hashes))
	if err != nil {
		return err
	}
	var failed error
	for i, hash := range hashes {
		switch chains.EscrowState(states[i].State) {
		case chains.EscrowOpen:
			failed = errors.Join(failed, t.claimEscrow(ctx, hash, known[i], b))
		case chains.EscrowNone:
			if known[i].data.Expiry() >= t.options.EVM.Time().Unix() {
				continue
			}
			fallthrough
		default:
			t.forget(hash)
			t.mu.Lock()
			if t.escrows[hash] == known[i] { // no message came since
				delete(t.escrows, hash)
			}
			t.mu.Unlock()
		}
	}
	return failed
}

func (t *Tower) claimEscrow(ctx context.Context, hash common.Hash, e *escrow, b Behaviour) error {
	if ok, err := t.ready(ctx, hash, b.Delay); !ok {
		return err
	}
	call, err := t.options.EVM.Deployment().ClaimBySecret(e.data, e.secret)
	if err != nil {
		return err
	}
	return t.send(ctx, hash, call, Claim{Escrow: hash})
}
